"""Threads that work side by side, and shards in blocks of nearly equal size."""

import itertools
import threading
from collections.abc import Callable, Sequence


def blocks(shards: int, threads: int) -> list[tuple[int, int]]:
    """Split shards into at most ``threads`` contiguous blocks of nearly equal size."""
    threads = max(1, min(threads, shards))
    cuts = [shards * k // threads for k in range(threads + 1)]
    return list(itertools.pairwise(cuts))


class Threads:
    """Calls functions side by side; the caller's thread takes part as member 0."""

    def __init__(self, size: int):
        self.size = size
        self._tasks: list[Callable[[], int] | None] = [None] * size
        self._results: list[int | BaseException] = [0] * size
        self._go = [threading.Semaphore(0) for _ in range(size)]
        self._done = threading.Semaphore(0)
        self._threads = [
            threading.Thread(target=self._work, args=(k,), daemon=True) for k in range(1, size)
        ]
        for thread in self._threads:
            thread.start()

    def run(self, tasks: Sequence[Callable[[], int]]) -> list[int]:
        """Run at most ``size`` tasks and return their results in order."""
        for k in range(1, len(tasks)):
            self._tasks[k] = tasks[k]
            self._go[k].release()
        try:
            self._results[0] = tasks[0]()
        finally:
            for _ in range(1, len(tasks)):
                self._done.acquire()
        results = []
        for result in self._results[: len(tasks)]:
            if isinstance(result, BaseException):
                raise result
            results.append(result)
        return results

    def close(self) -> None:
        """End the threads."""
        for k in range(1, self.size):
            self._tasks[k] = None
            self._go[k].release()
        for thread in self._threads:
            thread.join()

    def _work(self, k: int) -> None:
        while True:
            self._go[k].acquire()
            task = self._tasks[k]
            if task is None:
                return
            try:
                self._results[k] = task()
            except BaseException as error:
                self._results[k] = error
            self._done.release()

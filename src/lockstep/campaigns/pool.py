"""Points in processes of this machine, one at a time in each.

A pool of the standard library ends as a whole when one of its processes is killed; here the point
that it was at is lost, and the others go on. Processes are fresh ones: a fork would have threads
of the compiler and of the engine in it.
"""

import os
import signal
import threading
from collections.abc import Callable
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from typing import Any

from lockstep.campaigns.attempts import Attempt, Evaluate, attempt
from lockstep.errors import LockstepError

_READY = -1  # in place of a point's number: a worker has started
_GRACE = 5.0  # seconds that idle workers have to end


class _Worker:
    """A process, the way to it, and the number of the point that it has, if any."""

    def __init__(self, run: Evaluate):
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(run, theirs), daemon=False)
        self.process.start()
        theirs.close()  # so that the pipe ends when the process does
        self.number: int | None = None
        self.ready = False

    def death(self) -> str:
        """How it ended."""
        self.process.join()
        code = self.process.exitcode or 0
        if code >= 0:
            return f"its worker ended with exit status {code}"
        return f"its worker was ended by {signal.Signals(-code).name}"


class LocalPool:
    """Workers that are started as points come; ``room`` of them."""

    def __init__(self, run: Evaluate, workers: int):
        self.room = workers
        self._run = run
        self._workers: list[_Worker] = []

    def submit(self, number: int, point: object) -> None:
        """Give a point to a worker; at most ``room`` points are with workers."""
        worker = next((w for w in self._workers if w.number is None), None)
        if worker is None:
            worker = _started(self._run)
            self._workers.append(worker)
        worker.number = number
        try:
            worker.pipe.send((number, point))
        except OSError:
            return  # it has died since: `next` finds that
        except Exception as error:
            worker.number = None
            raise LockstepError(f"a point cannot be sent to workers: {error}") from error

    def next(self) -> tuple[int, Attempt]:
        """Wait until some point has ended: its number, and what came of it."""
        while True:
            for pipe in wait([worker.pipe for worker in self._workers]):
                worker = next(w for w in self._workers if w.pipe is pipe)
                try:
                    number, outcome = worker.pipe.recv()
                except (EOFError, OSError):
                    if (found := self._buried(worker)) is not None:
                        return found
                    continue
                if number == _READY:
                    worker.ready = True
                    continue
                worker.number = None
                return number, outcome

    def close(self, now: bool = False) -> None:
        """End the workers; ``now``: also those that have a point."""
        for worker in self._workers:
            worker.pipe.close()
            if now:
                worker.process.kill()
        for worker in self._workers:
            worker.process.join(_GRACE)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        self._workers = []

    def _buried(self, worker: _Worker) -> tuple[int, Attempt] | None:
        """Forget a worker that has ended; the point that it had, if any."""
        self._workers.remove(worker)
        worker.pipe.close()
        death = worker.death()
        if not worker.ready and worker.process.exitcode != -signal.SIGKILL:
            raise LockstepError(
                f"a worker could not start ({death}): a script that runs a campaign does so under "
                '`if __name__ == "__main__":`, for workers import it'
            )
        return None if worker.number is None else (worker.number, Attempt({}, death))


def _started(run: Evaluate) -> _Worker:
    try:
        return _Worker(run)
    except Exception as error:  # pickle raises several kinds
        name = getattr(run, "__qualname__", repr(run))
        raise LockstepError(
            f"{name} cannot be sent to workers: {error}; expected a function of a module"
        ) from error


def _work(run: Evaluate, pipe: Connection) -> None:
    """Evaluate what comes through the pipe until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the campaign decides what ends
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _tell(pipe.send, (_READY, None))
    while True:
        try:
            number, point = pipe.recv()
        except (EOFError, OSError):
            return
        _tell(pipe.send, (number, attempt(run, point)))


def _tell(send: Callable[[Any], None], message: object) -> None:
    try:
        send(message)
    except OSError:  # nobody listens any more
        os._exit(1)


def _end_with_parent() -> None:
    """A campaign that was killed cannot end its workers."""
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)

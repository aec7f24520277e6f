"""Runs inputs in processes of their own, with limits of time and memory.

One process prepares a target and forks workers: a fork costs little, and what an input breaks, it
breaks in a worker. A worker goes through a batch of inputs and tells of each; if it dies, the
input that it was at is to blame, and another worker goes on behind it.
"""

import contextlib
import faulthandler
import os
import pickle
import resource
import select
import shutil
import signal
import struct
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import NamedTuple

from fuzzing.outcome import Outcome, examine, place_of
from fuzzing.target import Inputs, Target

BATCH = 500  # inputs of a worker
ASLEEP = 120  # seconds without a word after which a worker sleeps and will not wake
KEPT = 20  # different defects of which inputs are kept
_SIZE = struct.Struct("<I")
_MEMORY = Path("/dev/shm")  # files there cost no disk

Fetch = Callable[[int], tuple[bytes, bytes]]
"""An input and its seed by number."""


class Finding(NamedTuple):
    """A defect, and the first input that showed it."""

    outcome: Outcome
    number: int
    data: bytes


@dataclass
class Report:
    """What a target made of its inputs. ``seconds``: CPU time of reading them."""

    name: str
    counts: Counter = field(default_factory=Counter)
    findings: dict[tuple[str, str], Finding] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def inputs(self) -> int:
        """How many were read."""
        return self.counts.total()

    @property
    def defects(self) -> int:
        """How many inputs showed one."""
        return self.inputs - self.counts["accepted"] - self.counts["refused"]

    def add(self, number: int, outcome: Outcome, fetch: Fetch) -> None:
        """Count an outcome, and keep the input if it is the first of its kind."""
        self.counts[outcome.kind] += 1
        if outcome.is_defect and outcome.key not in self.findings and len(self.findings) < KEPT:
            self.findings[outcome.key] = Finding(outcome, number, fetch(number)[0])

    def join(self, other: "Report") -> None:
        """Add what another worker found."""
        self.counts += other.counts
        self.seconds += other.seconds
        for key, finding in other.findings.items():
            mine = self.findings.get(key)
            if mine is None or finding.number < mine.number:
                self.findings[key] = finding


@contextlib.contextmanager
def prepared(target: Target) -> Iterator[Target]:
    """A target that is ready to read, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        target.prepare(Path(folder))
        for seed in target.seeds():  # compiles what reading needs, once and here
            target.read(seed)
        yield target


def run(target: Target, numbers: range, seed: int = 0) -> Report:
    """Read the inputs of those numbers; the target is prepared."""
    report, inputs = Report(target.name), Inputs(target, seed)
    for start in range(0, len(numbers), BATCH):
        for number, outcome in outcomes(target, numbers[start : start + BATCH], inputs.__getitem__):
            report.add(number, outcome, inputs.__getitem__)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    report.seconds = used.ru_utime + used.ru_stime
    return report


def outcomes(target: Target, numbers: range, fetch: Fetch) -> Iterator[tuple[int, Outcome]]:
    """The outcome of each input; a worker that dies has an heir."""
    while numbers:
        done = 0
        worker = _Worker(target, numbers, fetch)
        try:
            for outcome in worker.outcomes():
                yield numbers[done], outcome
                done += 1
        finally:
            death = worker.end()
        if done < len(numbers):
            yield numbers[done], death
            done += 1
        numbers = numbers[done:]


class _Worker:
    """A forked process at a batch of inputs."""

    def __init__(self, target: Target, numbers: range, fetch: Fetch):
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed by end)
        self._pipe, written = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                os.close(self._pipe)
                _work(target, numbers, fetch, written, self._log.fileno())
            finally:  # whatever it raised: no code of the parent's runs in a worker
                os._exit(1)
        os.close(written)
        self._said, self._asleep = b"", False

    def outcomes(self) -> Iterator[Outcome]:
        """What it says, until it has no more to say."""
        while (head := self._take(_SIZE.size)) is not None:
            body = self._take(*_SIZE.unpack(head))
            if body is None:
                return
            yield Outcome(*pickle.loads(body))

    def _take(self, size: int) -> bytes | None:
        while len(self._said) < size:
            if not select.select([self._pipe], [], [], ASLEEP)[0]:
                self._asleep = True
                os.kill(self._pid, signal.SIGPROF)  # says where it is, and ends
                if not select.select([self._pipe], [], [], 5)[0]:
                    os.kill(self._pid, signal.SIGKILL)
            piece = os.read(self._pipe, 1 << 16)
            if not piece:
                return None
            self._said += piece
        taken, self._said = self._said[:size], self._said[size:]
        return taken

    def end(self) -> Outcome:
        """How it died; of interest if it was not done."""
        os.close(self._pipe)
        if self._said:
            os.kill(self._pid, signal.SIGKILL)
        _, status = os.waitpid(self._pid, 0)
        with self._log as log:
            log.seek(0)
            trace = log.read().decode("utf-8", "replace")
        if not os.WIFSIGNALED(status):
            return Outcome("signal", f"exit {os.waitstatus_to_exitcode(status)}", trace)
        number = signal.Signals(os.WTERMSIG(status))
        # faulthandler begins with the innermost frame, a traceback ends with it.
        place = place_of("\n".join(reversed(trace.split("\n"))))
        if number == signal.SIGPROF or self._asleep:
            return Outcome("hang", place, trace)
        return Outcome("signal", f"{number.name} in {place}", trace)


def _work(target: Target, numbers: range, fetch: Fetch, pipe: int, log: int) -> None:
    """What a worker does; never returns."""
    os.dup2(log, 1)
    os.dup2(log, 2)
    faulthandler.enable(log, all_threads=False)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    faulthandler.register(signal.SIGPROF, log, all_threads=False, chain=True)
    own = target.folder / str(os.getpid())
    own.mkdir()
    target.folder = own
    _limit_memory(target.mebibytes)
    try:
        for number in numbers:
            data, seed = fetch(number)
            signal.setitimer(signal.ITIMER_PROF, target.seconds)
            outcome = examine(target, data, seed)
            signal.setitimer(signal.ITIMER_PROF, 0)
            body = pickle.dumps(tuple(outcome))
            _write(pipe, _SIZE.pack(len(body)) + body)
    finally:
        shutil.rmtree(own, ignore_errors=True)
    os._exit(0)


def _limit_memory(mebibytes: int) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + (mebibytes << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _write(pipe: int, data: bytes) -> None:
    while data:
        data = data[os.write(pipe, data) :]


def run_in_parallel(target: Target, count: int, seed: int, jobs: int) -> Report:
    """Inputs 0 to ``count`` - 1 in so many processes; the result does not depend on how many."""
    begin = process_time()
    with prepared(target):
        parts = [range(count * j // jobs, count * (j + 1) // jobs) for j in range(jobs)]
        report = Report(target.name)
        for part in [_Part(target, numbers, seed) for numbers in parts]:
            report.join(part.report())
    report.seconds += process_time() - begin
    return report


class _Part:
    """A process that runs a part of the inputs."""

    def __init__(self, target: Target, numbers: range, seed: int):
        self._pipe, written = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            status = 1
            try:
                os.close(self._pipe)
                _write(written, pickle.dumps(run(target, numbers, seed)))
                status = 0
            finally:
                os._exit(status)
        os.close(written)

    def report(self) -> Report:
        """Wait for it."""
        with open(self._pipe, "rb") as file:
            said = file.read()
        os.waitpid(self._pid, 0)
        return pickle.loads(said)

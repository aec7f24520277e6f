"""Processes that assemble modules while this one goes on translating.

LLVM does one thing at a time in a process (llvmlite holds a lock), and to assemble takes as long as
all else that translation does. So modules of large code go to other processes, those that these
have no time for are assembled here, and so are those of a process that does not answer. They start
when a process has assembled much, and end when nothing has come for a while.
"""

import os
import signal
import struct
import sys
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from subprocess import Popen
from typing import IO
from weakref import ReferenceType, ref

from lockstep._jit import aside
from lockstep.execution.programs import native
from lockstep.host_memory import memory_bytes

FEW = 400_000  # characters of modules that a process assembles by itself first: 0.2 s
MOST = 4  # processes: what is done here keeps no more of them busy
MEMORY = 2 << 30  # bytes of the host for each, which takes 0.1 GiB
IDLE = 5.0  # seconds until they end
_HEAD = struct.Struct("<?Q")  # whether it is wanted soon, and bytes that follow
_ASIDE = "from lockstep.execution.programs import assemblers; assemblers.serve()"
_READY = b"."


class Assembly:
    """A module that somebody assembles."""

    def __init__(self, text: str, soon: bool):
        self.text, self.soon = text, soon
        self.object: bytes | None = None
        self._ended = threading.Event()

    def assemble(self) -> None:
        """Do it here."""
        self.object = native.assemble(self.text, self.soon)

    def end(self) -> None:
        """It is done, or given up."""
        self._ended.set()

    def result(self) -> bytes:
        """The object code, when it is there."""
        self._ended.wait()
        if self.object is None:
            self.assemble()
        assert self.object is not None, "it was assembled"
        return self.object


class Assemblers:
    """The processes, each with a thread of this one that waits for it."""

    def __init__(self) -> None:
        self._jobs: deque[ReferenceType[Assembly]] = deque()  # some may be wanted no more
        self._changed = threading.Condition()
        self._submitted = self._running = 0

    def submit(self, text: str, soon: bool) -> Assembly:
        """As the function of this name."""
        job = Assembly(text, soon)
        with self._changed:
            self._submitted += len(text)
            self._jobs.append(ref(job))
            self._changed.notify()
            wanted = _wanted() if self._submitted > FEW else 0
            missing, self._running = wanted - self._running, max(wanted, self._running)
        for _ in range(missing):
            self._start()
        return job

    def _start(self) -> None:
        """One process more; where no thread is to be had, none, and the next job asks again."""
        try:
            threading.Thread(target=self._run, daemon=True).start()
        except RuntimeError:
            with self._changed:
                self._running -= 1

    def take_back(self, job: Assembly) -> bool:
        """Whether nobody has taken a job; then nobody will."""
        with self._changed:
            for place, other in enumerate(self._jobs):
                if other() is job:
                    del self._jobs[place]
                    return True
        return False

    def _run(self) -> None:
        """Start a process, and give it jobs until there are none for a while."""
        process = None
        try:
            process = aside.start(_ASIDE, answers=True)
            assert process.stdin is not None and process.stdout is not None, "they are pipes"
            if process.stdout.read(len(_READY)) == _READY:
                while (job := self._next()) and _ask(process.stdin, process.stdout, job):
                    pass
        except OSError:  # it could not be started: it is done without
            pass
        finally:
            with self._changed:
                self._running -= 1
            if process is not None:
                _close(process)

    def _next(self) -> Assembly | None:
        with self._changed:
            while self._changed.wait_for(lambda: self._jobs, IDLE):
                if job := self._jobs.popleft()():
                    return job
        return None


def _ask(into: IO[bytes], out: IO[bytes], job: Assembly) -> bool:
    """Have the process do a job; false if it does not answer any more."""
    text = job.text.encode()
    try:
        into.write(_HEAD.pack(job.soon, len(text)) + text)
        into.flush()
        head = out.read(_HEAD.size)
        if len(head) < _HEAD.size:
            return False
        _, size = _HEAD.unpack(head)
        code = out.read(size)
        if len(code) < size or not code:
            return False
        job.object = code
        return True
    except OSError:
        return False
    finally:
        job.end()


def _close(process: "Popen[bytes]") -> None:
    """Let a process end, which its standard input tells it to."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # it has ended already
                pipe.close()
    process.wait()


def _wanted() -> int:
    """As many processes as there are cores besides this one's, and memory for."""
    if not aside.can_start():
        return 0
    known = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1
    memory = memory_bytes()
    return min(cores - 1, MOST, MOST if memory is None else memory // MEMORY)


def serve() -> None:
    """What the other process does, until its standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the process that asks ends
    into, out = sys.stdin.buffer, sys.stdout.buffer
    native.prepare()
    out.write(_READY)
    out.flush()
    while len(head := into.read(_HEAD.size)) == _HEAD.size:
        soon, size = _HEAD.unpack(head)
        code = native.assemble(into.read(size).decode(), soon)
        out.write(_HEAD.pack(soon, len(code)) + code)
        out.flush()


_assemblers = Assemblers()


def submit(text: str, soon: bool) -> Assembly:
    """Have a module assembled some time (see :func:`native.assemble`), here or elsewhere."""
    return _assemblers.submit(text, soon)


def results(jobs: Sequence[Assembly]) -> list[bytes]:
    """The object code of modules that were submitted; what nobody has taken is assembled here."""
    for job in reversed(jobs):
        if _assemblers.take_back(job):
            job.assemble()
            job.end()
    return [job.result() for job in jobs]


def _forget() -> None:
    """In a child of ``fork`` there are none of the threads."""
    global _assemblers
    _assemblers = Assemblers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)

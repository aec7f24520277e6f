"""Machines that are processes of an MPI program, on one host or several: the transport over MPI.

The only module that knows mpi4py. Processes of one host leave packets in memory that they share.
Others send them: each exchange sends a packet to every other process and receives
one from each, in pieces: the last one is the first that is shorter than ``PIECE``. All that waits
here waits in Python, so that signals are heard, and looks meanwhile whether the others still are.
"""

import mmap
import os
import pickle
import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, NoReturn

import numpy as np

from lockstep.engine.boxes import Boxes, layout
from lockstep.engine.transport import RankLost
from lockstep.errors import LockstepError

PIECE = 8192  # words: larger messages are no longer sent at once, but when the other side is ready
LOOKS = 400  # in a row at what has not arrived, before others may have the core
YIELD_SECONDS = 0.002  # then it is left to them, and after that for NAP, and longer, each time
NAP = 0.0002
LOOK_AROUND = 0.05  # seconds between two looks whether the others live
HURRY = 0.6  # seconds without an answer, once a signal has come: mpiexec ends survivors after 1 s
MISSED = 0.15  # seconds after which one that has ended has not come to its end here
LAST_WORDS = 0.5  # seconds for a packet that was sent before its sender went wrong
MOST_KEPT = 16 * PIECE  # words of room for what one other sends
_PACKET, _END = 1, 2  # tags
WORD = 8  # bytes
STARTED = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS")
"""What starters of MPI programs leave in the environment of each process."""
_EXTRA = (
    "pip install 'lockstep-gpu[mpi]', or on a cluster with an MPI of its own "
    "pip install --no-binary mpi4py mpi4py"
)


@cache
def _library() -> Any:
    """mpi4py; importing it starts MPI."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # no mpi4py, or no MPI that it can load
        why = str(error).splitlines()[0]
        raise LockstepError(f"ranks over MPI need mpi4py ({why}): {_EXTRA}") from None
    return MPI


def world() -> Any:
    """The communicator of all processes that ``mpiexec`` has started.

    Raises :class:`LockstepError` where mpi4py is missing, or belongs to another MPI than the
    ``mpiexec`` that started several of these: each would take itself for the only one.
    """
    comm = _library().COMM_WORLD
    started = [int(v) for name in STARTED if (v := os.environ.get(name, "")).isdecimal()]
    if comm.size == 1 and max(started, default=1) > 1:
        raise LockstepError(
            f"mpiexec started {max(started)} processes, but mpi4py belongs to another MPI and sees "
            f"one: {_EXTRA}"
        )
    return comm


@contextmanager
def reached(ranks: Any) -> Iterator[Any]:
    """The transport of a communicator; a number of ranks, or a transport, as it is.

    Others learn what goes wrong meanwhile. Raises :class:`LockstepError` for anything else.
    """
    if isinstance(ranks, int | OverMpi):
        yield ranks
        return
    if type(ranks).__module__.partition(".")[0] != "mpi4py":
        raise LockstepError(f"ranks = {ranks!r}: expected a number, or a communicator of mpi4py")
    transport = OverMpi(ranks)
    try:
        yield transport
    except BaseException as error:
        transport.abort(str(error) or type(error).__name__)
        raise
    transport.close()


class OverMpi:
    """The transport of one process of a communicator; all of its processes make one together."""

    def __init__(self, comm: Any):
        """``comm``: of mpi4py; what others send over it is not met."""
        mpi = _library()
        if mpi.Query_thread() < mpi.THREAD_SERIALIZED:
            raise LockstepError(
                "MPI was started for one thread: ranks need mpi4py.rc.thread_level = 'serialized', "
                "or more"
            )
        self._mpi, self._comm = mpi, comm.Dup()
        self.rank, self.size = self._comm.rank, self._comm.size
        self._others = [r for r in range(self.size) if r != self.rank]
        self._in = [np.empty(PIECE * (r != self.rank), np.int64) for r in range(self.size)]
        self._ended: dict[int, str] = {}  # why others cannot go on
        self._pending: list[Any] = []  # their buffers live as long as MPI may write them
        self.lost: RankLost | None = None
        self._missed: dict[int, float] = {}  # when it was first seen that others had ended
        self.hurried = False  # a signal has come: who does not answer soon is lost
        self.noted: np.ndarray | None = None
        self._places: list[tuple[str, str, int]] = []
        self._places = self.share((platform.node(), _processes(), os.getpid()))

    @property
    def hosts(self) -> list[str]:
        """Where the processes run."""
        return [host for host, _, _ in self._places]

    def exchange(self, packets: list[np.ndarray | None]) -> list[np.ndarray | None]:
        """See :class:`.Transport`."""
        lengths = [0] * self.size
        sending, receiving = list(self._others), list(self._others)
        first = 0
        for r, room in enumerate(self._in):
            if len(room) > MOST_KEPT:
                self._in[r] = np.empty(PIECE, np.int64)
        while sending or receiving:
            last = first + PIECE
            for r in receiving:
                if len(self._in[r]) < last:
                    self._in[r] = np.concatenate([self._in[r], np.empty(last, np.int64)])
            word = self._mpi.INT64_T
            into = [
                self._comm.Irecv([self._in[r][first:last], word], r, _PACKET) for r in receiving
            ]
            out = []
            for r in sending:
                packet = packets[r]
                assert packet is not None, "everybody gives something to everybody else"
                out.append(self._comm.Isend([packet[first:last], word], r, _PACKET))
            came = self._complete(into + out, receiving + sending)
            for r, words in zip(receiving, came):
                lengths[r] = first + words
            receiving = [r for r, words in zip(receiving, came) if words == PIECE]
            sending = [r for r in sending if len(packets[r]) >= last]  # type: ignore[arg-type]
            first = last
        return [None if r == self.rank else self._in[r][: lengths[r]] for r in range(self.size)]

    def boxes(self, rooms: np.ndarray) -> Boxes | None:
        """See :class:`.Transport`: in a file without a name, which lasts as long as its users."""
        first = self._places[0]
        together = all(place[:2] == first[:2] for place in self._places)
        if not together or not hasattr(os, "memfd_create"):
            return None
        places, words = layout(rooms)
        made = os.memfd_create("lockstep") if self.rank == 0 else -1
        if made >= 0:
            os.ftruncate(made, words * WORD)
        number = self.share(made)[0]
        try:
            with open(f"/proc/{first[2]}/fd/{number}", "r+b") as file:
                memory = np.frombuffer(mmap.mmap(file.fileno(), words * WORD), np.int64)
        except OSError:  # say it is another user's
            memory = None
        there = self.share(memory is not None)
        if made >= 0:
            os.close(made)
        return Boxes(memory, places) if all(there) else None

    def await_packet(self, rank: int, has_come: Callable[[], bool]) -> None:
        """See :class:`.Transport`."""
        self._wait(has_come, lambda: {rank})

    def share(self, value: Any) -> list[Any]:
        """See :class:`.Transport`."""
        packet = _words(value)
        came = self.exchange([None if r == self.rank else packet for r in range(self.size)])
        return [value if packet is None else _value(packet) for packet in came]

    def gather(self, value: Any) -> list[Any] | None:
        """See :class:`.Transport`."""
        nothing = np.zeros(0, np.int64)
        given = [None if r == self.rank else nothing for r in range(self.size)]
        if self.rank:
            given[0] = _words(value)
        came = self.exchange(given)
        if self.rank:
            return None
        return [value if packet is None else _value(packet) for packet in came]

    def abort(self, reason: str) -> None:
        """See :class:`.Transport`."""
        note = np.frombuffer(reason.encode(), np.uint8)
        for r in self._others:
            if self.lost is None or r != self.lost.rank:
                request = self._comm.Isend([note.copy(), self._mpi.BYTE], r, _END)
                self._pending.append(request)

    def look(self) -> None:
        """See :class:`.Transport`. One that has come to its end may have left just now."""
        now = perf_counter()
        for r in self._others:
            if self._has_died(r) and now - self._missed.setdefault(r, now) >= MISSED:
                self._lose(r, "has died")

    def close(self) -> None:
        """See :class:`.Transport`."""
        self._comm.Free()

    def _complete(self, requests: list[Any], ranks: list[int]) -> list[int]:
        """Wait for requests, each of them with a rank; how many words each one has moved."""
        some = self._mpi.Request.Testsome
        words, left = [0] * len(requests), set(range(len(requests)))
        statuses = [self._mpi.Status() for _ in requests]
        self._pending = requests

        def complete() -> bool:
            done = some(requests, statuses) or ()
            for k, status in zip(done, statuses):
                words[k] = status.Get_count(self._mpi.INT64_T)
            left.difference_update(done)
            return not left

        self._wait(complete, lambda: {ranks[k] for k in left})
        self._pending = []
        return words

    def _wait(self, done: Callable[[], bool], awaited: Callable[[], set[int]]) -> None:
        """Wait until it is done by ranks that are awaited; raise if one of them never will."""
        looks, begin, looked = 0, 0.0, 0.0
        while not done():
            looks += 1
            if looks < LOOKS:
                continue
            now = perf_counter()
            if not begin:
                begin = looked = now
            if now - begin < YIELD_SECONDS:
                os.sched_yield()
                continue
            sleep(min(max(NAP, (now - begin) / 100), LOOK_AROUND))
            if now - looked >= LOOK_AROUND:
                looked = now
                self._look_around(awaited(), now - begin)

    def _look_around(self, awaited: Iterable[int], seconds: float) -> None:
        """Raise if one of the others that are awaited, for so long by now, will never answer."""
        status = self._mpi.Status()
        while self._comm.Iprobe(self._mpi.ANY_SOURCE, _END, status):
            note = np.empty(status.Get_count(self._mpi.BYTE), np.uint8)
            self._comm.Recv([note, self._mpi.BYTE], status.source, _END)
            self._ended.setdefault(status.source, note.tobytes().decode())
        for r in sorted(awaited):
            if r in self._ended and seconds >= LAST_WORDS:
                raise LockstepError(f"rank {r} of {self.size} has ended: {self._ended[r]}")
            if not self._places:  # not everybody has said where he is
                continue
            if self._has_died(r):
                self._lose(r, "has died")
            if self.hurried and seconds >= HURRY and r not in self._ended:
                self._lose(r, f"has not answered for {seconds:.1f} s")

    def _has_died(self, rank: int) -> bool:
        """Whether a process of this host has ended; of others nobody knows."""
        _, processes, process = self._places[rank]
        return processes == _processes() and not _lives(process)

    def _lose(self, rank: int, why: str) -> NoReturn:
        host, _, process = self._places[rank]
        self.lost = RankLost(rank, self.size, f"process {process} on {host} {why}")
        raise self.lost


def _words(value: Any) -> np.ndarray:
    """A value as a packet."""
    content = pickle.dumps(value, protocol=5)
    content += bytes(-len(content) % 8)
    return np.frombuffer(content, np.int64)


def _value(packet: np.ndarray) -> Any:
    return pickle.loads(packet.data)


@cache
def _processes() -> str:
    """The host and its set of process numbers, of which a container may have its own."""
    namespace = Path("/proc/self/ns/pid")
    return f"{platform.node()} {os.readlink(namespace) if namespace.is_symlink() else ''}"


def _lives(process: int) -> bool:
    """Whether a process of this host has not ended."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return not Path("/proc/self/stat").exists()  # elsewhere nobody knows
    except OSError:
        return True
    return status.rpartition(")")[2].split()[0] not in "ZX"

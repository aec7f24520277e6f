"""The course of a program: digests of what it gave a device to do, in order.

A program is started again by a run that goes on from a checkpoint, and has to do what it did. What
is compared is the course up to where the checkpoint was written, so that the first launch that
differs can be named.
"""

from hashlib import blake2b
from pathlib import Path

import numpy as np

from lockstep.device.launch import Launch
from lockstep.errors import InputError
from lockstep.execution.memory.device_memory import DeviceMemory
from lockstep.workload import MemoryCopy

HOST = range(1 << 44, 1 << 47)  # where the system puts a process's own memory


class Diverged(InputError):
    """A program does something else than before the checkpoint that it goes on from."""


class Course:
    """What a program has done so far.

    ``before``: what it had done when a checkpoint was written, as ``freeze`` gave it; then all that
    differs raises :class:`Diverged`, which names the checkpoint in ``place``.
    """

    def __init__(self, memory: DeviceMemory, before: dict | None = None, place: Path | None = None):
        self._memory, self._place = memory, place
        self._digests: list[int] = []
        self._waits: list[int] = []  # how many digests there were at each
        self._last = "its start"
        self._before = ([], []) if before is None else (before["digests"].tolist(), before["waits"])

    def launched(self, launch: Launch) -> None:
        """A kernel is launched."""
        key, shape, stream = launch.kernel.module.key, launch.geometry, launch.stream
        about = (key, launch.kernel.name, shape, stream, launch.treatment.name)
        parameters = self._comparable(launch.parameters)
        self._add(f"launch {launch.id} ({launch.kernel.name})", repr(about).encode(), parameters)

    def copied(self, copy: MemoryCopy, content: memoryview) -> None:
        """The host writes device memory."""
        about = f"{copy.address} {copy.bytes}".encode()
        self._add(f"a copy of {copy.bytes} bytes to {copy.address:#x}", about, content)

    def waited(self) -> None:
        """The program waits for what it has given."""
        done, count = self._before[1], len(self._waits)
        if count < len(done) and done[count] != len(self._digests):
            raise self._diverged(f"it waits after {self._last}, where it did not")
        self._waits.append(len(self._digests))

    @property
    def waits(self) -> int:
        """How often it has waited."""
        return len(self._waits)

    def check_end(self) -> None:
        """Raise if the program has ended before it came to the checkpoint."""
        if self.waits < len(self._before[1]):
            raise self._diverged(f"nothing follows {self._last}, where more did")

    def freeze(self) -> dict:
        """The course so far, for a checkpoint."""
        return {"digests": np.array(self._digests, np.uint64), "waits": self._waits}

    def _add(self, what: str, *content: bytes | memoryview) -> None:
        digest = blake2b(digest_size=8)
        for part in content:
            digest.update(part)
        number, before = int.from_bytes(digest.digest(), "little"), self._before[0]
        place = len(self._digests)
        if place < len(before) and number != before[place]:
            raise self._diverged(f"{what} is the first that differs")
        self._digests.append(number)
        self._last = what

    def _comparable(self, parameters: bytes) -> bytes:
        """Without pointers into the host's memory, which lies elsewhere in each run."""
        size = len(parameters) // 8 * 8
        words = np.frombuffer(parameters[:size], np.uint64).copy()
        own = self._memory.base, self._memory.base + self._memory.capacity
        host = (words >= HOST.start) & (words < HOST.stop) & ~((words >= own[0]) & (words < own[1]))
        words[host] = 0
        return words.tobytes() + parameters[size:]

    def _diverged(self, what: str) -> Diverged:
        problem = f"the program does something else than before the checkpoint: {what}"
        assert self._place is not None, "there is a checkpoint to differ from"
        return Diverged(self._place, "", problem)

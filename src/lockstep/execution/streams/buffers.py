"""Where the blocks of resident CTAs write their streams."""

from collections.abc import Iterator

import numpy as np

from lockstep.errors import LockstepError
from lockstep.execution.scheduling.machine import Machine
from lockstep.host_memory import memory_bytes

FIRST_STREAM_WORDS = 1 << 16
MANY_WORDS = 1 << 18  # for those who read many CTAs at a time
MOST_STREAM_WORDS = 1 << 28  # of one CTA: 2 GiB, as much as an endless loop may take
MOST_OF_MEMORY = 2  # all together take no more than the host's memory divided by this

_ADVICE = "an instruction limit tells where, execution without timing takes no memory"


class StreamBuffers:
    """The stream buffers of the CTAs that run, one a place; they grow as needed."""

    def __init__(self, machine: Machine, words: int = 0):
        """``words``: room of each at first; 0: FIRST_STREAM_WORDS."""
        self._machine, self._first_words = machine, words or FIRST_STREAM_WORDS
        # Record arrays are slow from Python.
        self._ctas = machine.ctas.view(np.ndarray)
        self._running = machine.running.view(np.ndarray)[0]
        self._buffers = [np.empty(0, np.int64)] * len(machine.ctas)
        self._starts = [0] * len(machine.ctas)  # their addresses
        self._bytes = 0
        machine.ctas.stream[:] = 0
        machine.ctas.stream_end[:] = 0

    def _used(self, place: int) -> int:
        return (int(self._ctas["stream"][place]) - self._starts[place]) // 8

    def grow(self, place: int) -> None:
        """Twice the room, with what is there already."""
        used = self._used(place)
        if used >= MOST_STREAM_WORDS:
            raise LockstepError(
                f"CTA {int(self._ctas['linear'][place])} executes without end: its stream takes "
                f"{8 * used} bytes; {_ADVICE}"
            )
        buffer = np.empty(max(2 * len(self._buffers[place]), self._first_words), np.int64)
        self._bytes += buffer.nbytes - self._buffers[place].nbytes
        there = memory_bytes()
        if there is not None and self._bytes > there // MOST_OF_MEMORY:
            busy = sum(len(each) > 0 for each in self._buffers)
            raise LockstepError(
                f"the streams of {busy} CTAs that run take {self._bytes} bytes, and this host has "
                f"{there}: do they execute without end? {_ADVICE}"
            )
        buffer[:used] = self._buffers[place][:used]
        self._buffers[place], self._starts[place] = buffer, buffer.ctypes.data
        cta = self._ctas[place]
        cta["stream"] = self._starts[place] + 8 * used
        cta["stream_end"] = self._starts[place] + buffer.nbytes

    def take(self) -> Iterator[tuple[list[int], list[tuple[int, int, int]], np.ndarray, list[int]]]:
        """The CTAs that ended since the last call, place by place.

        Their numbers, their indices, the buffer in which their streams follow each other, and the
        words at which these end. They are valid until the next ones are asked for.
        """
        ended = self._machine.ended.view(np.ndarray)[: int(self._running["ended"])].tolist()
        self._running["ended"] = 0
        for place in sorted({entry[0] for entry in ended}):
            own = [entry for entry in ended if entry[0] == place]
            ends = [(entry[-1] - self._starts[place]) // 8 for entry in own]
            numbers, indices = [entry[1] for entry in own], [entry[2:5] for entry in own]
            yield numbers, indices, self._buffers[place], ends
            self._drop(place, ends[-1])

    def _drop(self, place: int, words: int) -> None:
        """Forget the first words of a place; what follows them moves to the front."""
        rest = self._used(place) - words
        buffer = self._buffers[place]
        buffer[:rest] = buffer[words : words + rest]
        self._ctas[place]["stream"] = self._starts[place] + 8 * rest

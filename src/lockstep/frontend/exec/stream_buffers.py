"""Where the blocks of resident CTAs write their streams."""

import numpy as np

from lockstep.errors import LockstepError
from lockstep.frontend.exec.machine import Machine

FIRST_STREAM_WORDS = 1 << 16
_INDEX = ["ctaid_x", "ctaid_y", "ctaid_z"]
MOST_STREAM_WORDS = 1 << 28  # of one CTA: 2 GiB, as much as an endless loop may take


class Streams:
    """The stream buffers of the CTAs that run, one a place; they grow as needed."""

    def __init__(self, machine: Machine):
        self._machine = machine
        self._ctas = machine.ctas.view(np.ndarray)  # record arrays are slow from Python
        self._buffers = [np.empty(0, np.int64)] * len(machine.ctas)
        self._starts = [0] * len(machine.ctas)  # their addresses
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
                f"{8 * used} bytes; an instruction limit tells where, execution without timing "
                "takes no memory"
            )
        buffer = np.empty(max(2 * len(self._buffers[place]), FIRST_STREAM_WORDS), np.int64)
        buffer[:used] = self._buffers[place][:used]
        self._buffers[place], self._starts[place] = buffer, buffer.ctypes.data
        cta = self._ctas[place]
        cta["stream"] = self._starts[place] + 8 * used
        cta["stream_end"] = self._starts[place] + buffer.nbytes

    def take(self, place: int) -> tuple[tuple[int, int, int], np.ndarray, int]:
        """Index of the CTA that ended, a buffer and how many words of it are its stream.

        The place becomes free.
        """
        cta, words = self._ctas[place], self._used(place)
        index = cta[_INDEX].item()
        cta["stream"], cta["linear"] = self._starts[place], -1
        return index, self._buffers[place], words

"""Where the blocks of resident CTAs write their streams."""

import numpy as np

from lockstep.errors import LockstepError
from lockstep.frontend.exec.machine import Machine

FIRST_STREAM_WORDS = 1 << 16
MOST_STREAM_WORDS = 1 << 28  # of one CTA: 2 GiB, as much as an endless loop may take


class Streams:
    """The stream buffers of the CTAs that run, one a place; they grow as needed."""

    def __init__(self, machine: Machine):
        self._machine = machine
        self._ctas = machine.ctas.view(np.ndarray)  # record arrays are slow from Python
        self._buffers = [np.empty(0, np.int64)] * len(machine.ctas)
        machine.ctas.stream[:] = 0
        machine.ctas.stream_end[:] = 0

    def _used(self, place: int) -> int:
        buffer = self._buffers[place]
        return (int(self._ctas["stream"][place]) - buffer.ctypes.data) // 8 if len(buffer) else 0

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
        self._buffers[place] = buffer
        cta = self._machine.ctas[place]
        cta.stream = buffer.ctypes.data + 8 * used
        cta.stream_end = buffer.ctypes.data + buffer.nbytes

    def take(self, place: int) -> tuple[int, tuple[int, int, int], np.ndarray]:
        """Number, index and stream words of the CTA that ended; its place becomes free."""
        words = self._buffers[place][: self._used(place)]
        cta = self._ctas[place]
        cta["stream"] = self._buffers[place].ctypes.data
        number = int(cta["linear"])
        cta["linear"] = -1
        return number, (int(cta["ctaid_x"]), int(cta["ctaid_y"]), int(cta["ctaid_z"])), words

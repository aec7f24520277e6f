"""Where PyTorch's allocator puts tensors: several share what it got from CUDA at once.

Sizes and rules are those of PyTorch's ``c10/cuda/CUDACachingAllocator.cpp`` (at 001074d25084) with
default settings: small tensors and others have segments of their own kind, a tensor takes the
smallest free piece that holds it, and what it leaves of that stays free.
"""

from dataclasses import dataclass, field

GRAIN = 512  # bytes by which sizes are rounded up; what is left of a small piece is used from here
MIB = 1 << 20
SMALL = MIB  # of a small tensor at most; what is left of a large piece is used beyond this
SMALL_SEGMENT, LARGE_SEGMENT, ROUND = 2 * MIB, 20 * MIB, 2 * MIB
OWN_SEGMENT = 10 * MIB  # from here on a segment is as long as the tensor that it is made for


@dataclass(frozen=True)
class Piece:
    """Bytes of a segment that are one tensor's."""

    segment: int
    offset: int
    bytes: int


@dataclass
class CachedSegment:
    """What CUDA allocated at once; ``free``: offset and bytes, in their order."""

    bytes: int
    small: bool
    free: list[tuple[int, int]] = field(default_factory=list)


class CachingAllocator:
    """The segments of a process, and what is free in them; no segment is ever given back."""

    def __init__(self) -> None:
        self.segments: list[CachedSegment] = []

    def allocate(self, size: int) -> Piece:
        """Room for a tensor of some bytes."""
        size = _rounded(max(size, 1), GRAIN)
        small = size <= SMALL
        fits = [
            (length, number, offset)
            for number, segment in enumerate(self.segments)
            if segment.small is small
            for offset, length in segment.free
            if length >= size
        ]
        length, number, offset = min(fits) if fits else self._new_segment(size, small)
        free = self.segments[number].free
        free.remove((offset, length))
        if length - size >= GRAIN if small else length - size > SMALL:
            free.append((offset + size, length - size))
            free.sort()
            length = size
        return Piece(number, offset, length)

    def free(self, piece: Piece) -> None:
        """Give back what a tensor had; free neighbours become one."""
        segment = self.segments[piece.segment]
        joined: list[tuple[int, int]] = []
        for offset, length in sorted([*segment.free, (piece.offset, piece.bytes)]):
            if joined and sum(joined[-1]) == offset:
                offset, length = joined[-1][0], joined.pop()[1] + length
            joined.append((offset, length))
        segment.free = joined

    def _new_segment(self, size: int, small: bool) -> tuple[int, int, int]:
        if small:
            length = SMALL_SEGMENT
        else:
            length = LARGE_SEGMENT if size < OWN_SEGMENT else _rounded(size, ROUND)
        self.segments.append(CachedSegment(length, small, [(0, length)]))
        return length, len(self.segments) - 1, 0


def _rounded(size: int, grain: int) -> int:
    return -(-size // grain) * grain

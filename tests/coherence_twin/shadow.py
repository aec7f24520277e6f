"""What loads of one line may return: the order of its writes, byte by byte.

A write is *ordered* where it becomes the newest value of its bytes for all: in the home, or in an
L1 that has the only copy. Till then only the L1 that wrote sees it. A load returns its own L1's
newest write that is not ordered, if there is one; else something that is not older than what this
L1 has written, has read, or could have missed when its request went out, or when the load began if
it is one that goes past the L1. An atomic, and a load of the only
copy, see the very newest. Writes of one L1 to a byte are ordered as they were made.
"""

from collections.abc import Sequence


class Violation(AssertionError):
    """A load, or an order of writes, that is not allowed."""


class Shadow:
    """For each byte: the newest generation, and for each L1 what it may no longer miss."""

    def __init__(self, l1s: int, size: int):
        self.size = size
        self.clock = 0
        self.index = {0: 0}  # when each generation was ordered
        self.current = [0] * size
        self.floors = [[0] * size for _ in range(l1s)]
        self.pending = [[0] * size for _ in range(l1s)]  # the newest own write not ordered, or 0
        self.last = [[0] * size for _ in range(l1s)]  # the newest own write that is ordered

    def clone(self) -> "Shadow":
        """Another one that is the same."""
        other = Shadow.__new__(Shadow)
        other.size, other.clock = self.size, self.clock
        other.index, other.current = self.index.copy(), self.current[:]
        for name in ("floors", "pending", "last"):
            setattr(other, name, [row[:] for row in getattr(self, name)])
        return other

    def floor(self, l1: int) -> tuple[int, ...]:
        """The oldest that an operation of an L1 may see that begins now."""
        return tuple(self.floors[l1])

    def newest(self) -> tuple[int, ...]:
        """The same, of one whose request goes out now."""
        return tuple(self.index[generation] for generation in self.current)

    def invalidate(self, l1: int) -> None:
        """An L1 sees nothing any more that is old."""
        self.floors[l1] = list(self.newest())

    def wrote(self, l1: int, mask: int, generation: int) -> None:
        """An L1 has written, so far for itself."""
        for k in range(self.size):
            if mask >> k & 1:
                self.pending[l1][k] = generation

    def order(self, l1: int, mask: int, data: Sequence[int]) -> None:
        """Bytes come to where they are for all; those that are ordered already only move."""
        fresh = [k for k in range(self.size) if mask >> k & 1 and data[k] not in self.index]
        if not fresh:
            return
        self.clock += 1
        for k in fresh:
            self.index[data[k]] = self.clock
        for k in fresh:
            if data[k] < self.last[l1][k]:
                raise Violation(f"L1 {l1} wrote {self.last[l1][k]} to byte {k} after {data[k]}")
            self.last[l1][k] = self.current[k] = data[k]
            self.floors[l1][k] = self.clock
            if self.pending[l1][k] == data[k]:
                self.pending[l1][k] = 0

    def exact(self, mask: int, data: Sequence[int]) -> None:
        """Whoever looks now sees the newest."""
        for k in range(self.size):
            if mask >> k & 1 and data[k] != self.current[k]:
                raise Violation(f"byte {k} is {data[k]}, but {self.current[k]} is the newest")

    def read(self, l1: int, mask: int, floor: Sequence[int], data: Sequence[int]) -> None:
        """A load has returned."""
        for k in range(self.size):
            if not mask >> k & 1:
                continue
            if self.pending[l1][k]:
                if data[k] != self.pending[l1][k]:
                    wanted = self.pending[l1][k]
                    raise Violation(f"L1 {l1} wrote {wanted} to byte {k}, and read {data[k]}")
                continue
            index = self.index.get(data[k], -1)
            if index < floor[k]:
                raise Violation(
                    f"L1 {l1} read {data[k]} of byte {k}, which is too old, or nobody's"
                )
            self.floors[l1][k] = max(self.floors[l1][k], index)

    def final(self, memory: Sequence[int]) -> None:
        """All caches are empty: memory has the newest of every byte."""
        self.exact((1 << self.size) - 1, memory)

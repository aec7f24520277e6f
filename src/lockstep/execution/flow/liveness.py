"""Which registers are live where blocks begin and end."""

from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple

from lockstep.execution.flow.blocks import BasicBlock


class Uses(NamedTuple):
    """Registers that a block reads before it writes them, writes, and passes to who comes next."""

    reads: Set[str]
    writes: Set[str]
    passes: Set[str] = frozenset()


def find_live(blocks: Sequence[BasicBlock], joints: Sequence[BasicBlock] = ()) -> None:
    """Set ``live_in`` and ``live_out`` of blocks, from what they read, write and pass on.

    ``joints`` are blocks that others go through, and that are not asked for. Successors that are
    among neither may read anything.
    """
    flow = [*blocks, *joints]
    place = {b: k for k, b in enumerate(flow)}
    after = [[place.get(s, len(flow)) for s in b.successors] for b in flow]
    found = live([Uses(b.reads, b.writes, b.passes) for b in flow], after)
    for block, (before, behind) in zip(blocks, found):
        block.live_in, block.live_out = before, behind


def live(uses: Sequence[Uses], after: Sequence[Sequence[int]]) -> list[tuple[set[str], set[str]]]:
    """What is live where each block begins, and where it ends.

    ``after``: the places of the blocks that may follow each; a larger one than there are stands for
    what may read anything. Sets of registers are bits of integers meanwhile: a kernel has some
    hundred registers, and with functions thousands of blocks.
    """
    count, bits = len(uses), _Bits(name for use in uses for names in use for name in names)
    reads, passes = [bits.of(u.reads) for u in uses], [bits.of(u.passes) for u in uses]
    kept = [~bits.of(u.writes) for u in uses]
    live_in, live_out = [*[0] * count, bits.all], [0] * count
    changed = True
    while changed:
        changed = False
        for k in range(count - 1, -1, -1):
            out = passes[k]
            for s in after[k]:
                out |= live_in[s]
            before = reads[k] | (out & kept[k])
            if before != live_in[k] or out != live_out[k]:
                live_in[k], live_out[k], changed = before, out, True
    return [(bits.names(a), bits.names(b)) for a, b in zip(live_in, live_out)]


class _Bits:
    """Names as bits of integers."""

    def __init__(self, names: Iterable[str]):
        self._names = sorted(set(names))
        self._numbers = {name: k for k, name in enumerate(self._names)}
        self.all = (1 << len(self._names)) - 1

    def of(self, names: Iterable[str]) -> int:
        """The integer for a set."""
        bits = 0
        for name in names:
            bits |= 1 << self._numbers[name]
        return bits

    def names(self, bits: int) -> set[str]:
        """The set that an integer stands for."""
        found = set()
        while bits:
            low = bits & -bits
            found.add(self._names[low.bit_length() - 1])
            bits ^= low
        return found

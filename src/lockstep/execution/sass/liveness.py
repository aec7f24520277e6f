"""Which registers are live where the blocks of a kernel begin and end."""

from collections.abc import Iterable, Sequence

from lockstep.execution.sass.graph import Block


def find_live(blocks: Sequence[Block], joints: Sequence[Block] = ()) -> None:
    """Set ``live_in`` and ``live_out`` of blocks, from what they read and write.

    ``joints``: see :class:`.graph.Graph`. Blocks that are not among these may read anything. Sets
    of registers are bits of integers meanwhile: a kernel has some hundred registers, and with
    functions thousands of blocks.
    """
    flow = [*blocks, *joints]
    bits = _Bits(name for b in flow for name in (*b.reads, *b.writes))
    place = {b: k for k, b in enumerate(flow)}
    after = [[place.get(s, len(flow)) for s in b.successors] for b in flow]
    reads, kept = [bits.of(b.reads) for b in flow], [~bits.of(b.writes) for b in flow]
    live_in, live_out = [*[0] * len(flow), bits.all], [0] * len(flow)
    changed = True
    while changed:
        changed = False
        for k in range(len(flow) - 1, -1, -1):
            out = 0
            for s in after[k]:
                out |= live_in[s]
            live = reads[k] | (out & kept[k])
            if live != live_in[k] or out != live_out[k]:
                live_in[k], live_out[k], changed = live, out, True
    for block, before, behind in zip(blocks, live_in, live_out):
        block.live_in, block.live_out = bits.names(before), bits.names(behind)


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

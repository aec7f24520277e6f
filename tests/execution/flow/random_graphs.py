"""Random blocks, and questions about their paths answered by trying all."""

from lockstep.execution.flow.blocks import BasicBlock


def make(rng, count):
    """Blocks with up to three successors each, numbered in their order."""
    blocks = [BasicBlock(k, k + 1, number=k) for k in range(count)]
    for k, block in enumerate(blocks):
        others = [None, *blocks[max(k - 4, 0) : k + 4]]
        block.taken, block.next = (others[rng.integers(len(others))] for _ in range(2))
        if rng.random() < 0.2:
            block.more = [blocks[rng.integers(count)]]
    return blocks


def reached(start, following):
    """All blocks on paths from one, itself among them."""
    found = {start}
    while True:
        more = {s for b in found for s in following(b)} - found
        if not more:
            return found
        found |= more

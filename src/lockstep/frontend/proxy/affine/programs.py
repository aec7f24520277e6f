"""Loops of a class of warps, unfolded: which tokens it executes, and what each adds."""

from itertools import pairwise

import numpy as np

from lockstep.frontend.proxy.affine.tables import Tables
from lockstep.frontend.tracefile.columns import Malformed

MOST_WORDS = 1 << 23  # tokens that a CTA executes, and addresses that they list
MOST_DEPTH = 16  # of loops in each other


def class_places(t: Tables) -> np.ndarray:
    """Where the entries of each class begin, and the end."""
    return np.concatenate(([0], np.cumsum(t.class_entries)))


def check(t: Tables, warps: int) -> None:
    """Raise :class:`Malformed` for classes that cannot be unfolded; ``warps``: of a CTA."""
    places = class_places(t)
    if (t.class_entries < 0).any() or places[-1] != len(t.entry_token):
        raise Malformed("expected as many entries as classes have")
    if (t.entry_token >= len(t.token_site)).any():
        raise Malformed("an entry without a token")
    loops = t.entry_token < 0
    if (t.entry_span[loops] < 1).any() or (t.entry_span[~loops] != 0).any():
        raise Malformed("expected entries in each loop, and none in tokens")
    lanes = np.bitwise_count(t.mask_lanes[t.token_mask].view(np.uint64)).astype(np.int64)
    weights = np.where(loops, 0, (1 + lanes)[t.entry_token * ~loops] if len(lanes) else 0)
    tokens, spans = t.entry_token.tolist(), t.entry_span.tolist()
    entries = tokens, spans, weights.tolist()
    sizes = [_size(entries, *ends) for ends in pairwise(places.tolist())]
    of_shapes = np.array(sizes, np.int64)[t.shape_class].reshape(-1, warps).sum(axis=1)
    if of_shapes.max(initial=0) > MOST_WORDS:
        raise Malformed(f"a CTA of more than {MOST_WORDS} tokens and addresses")


def _size(entries: tuple[list[int], list[int], list[int]], begin: int, end: int) -> int:
    """How many words a class has unfolded."""
    tokens, spans, weights = entries
    total, factor = 0, 1
    open_loops: list[tuple[int, int]] = []  # where each ends, and the factor before it
    for i in range(begin, end):
        while open_loops and open_loops[-1][0] == i:
            factor = open_loops.pop()[1]
        if tokens[i] < 0:
            stop = i + 1 + spans[i]
            if stop > (open_loops[-1][0] if open_loops else end) or len(open_loops) == MOST_DEPTH:
                raise Malformed("a loop that does not end where the one around it does")
            open_loops.append((stop, factor))
            factor *= -tokens[i]
        else:
            total += factor * weights[i]
        if max(total, factor) > MOST_WORDS:
            raise Malformed(f"a warp of more than {MOST_WORDS} tokens and addresses")
    return total


def unfold(t: Tables, begin: int, end: int) -> np.ndarray:
    """The tokens of entries, int64 [tokens], their loops unfolded."""
    parts, i = [], begin
    while i < end:
        token = int(t.entry_token[i])
        if token >= 0:
            stop = i + 1
            while stop < end and t.entry_token[stop] >= 0:
                stop += 1
            parts.append(t.entry_token[i:stop])
        else:
            stop = i + 1 + int(t.entry_span[i])
            parts.append(np.tile(unfold(t, i + 1, stop), -token))
        i = stop
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def added(t: Tables, tokens: np.ndarray) -> np.ndarray:
    """What each token adds to its function, in bytes: deltas of a site and function, summed up."""
    key = t.token_site[tokens] * (len(t.function_region) + 1) + t.token_function[tokens]
    order = np.argsort(key, kind="stable")
    sums = np.cumsum(t.token_delta[tokens][order])
    begins = np.flatnonzero(np.diff(key[order], prepend=-1))
    before = np.concatenate(([0], sums))[begins]
    found = np.empty_like(sums)
    lengths = np.diff(np.append(begins, len(order)))
    found[order] = sums - np.repeat(before, lengths)
    return found

"""Predictions: what a pattern must cost, in residuals that are not zero."""

from itertools import chain

import numpy as np
import pytest

from lockstep.frontend.tracefile import walk
from lockstep.frontend.tracefile.columns import records_for_jit
from lockstep.frontend.tracefile.rows import (
    STORED,
    AddressKind,
    blank_rows,
    finished,
    place_streams,
)
from lockstep.frontend.tracefile.shapes import SLOT, starts
from lockstep.frontend.tracefile.survey import choose
from lockstep.workload import ADDRESS

EVERY = (1 << 32) - 1


def chunk(ctas, index=None):
    """A walk over CTAs of warps of (row, mask, addresses); all CTAs must have one shape."""
    records = [record for cta in ctas for warp in cta for record in warp]
    slots = [(row, mask) for warp in ctas[0] for row, mask, _ in warp]
    lists = [a for _, _, a in records if isinstance(a, list)]
    ends = np.cumsum([len(a) for a in lists]).tolist()
    places = iter([0, *ends])
    addresses = [
        (a[0], 0, next(places)) if isinstance(a, list) else (a, 4, -1) for _, _, a in records
    ]
    index = np.array(range(len(ctas)) if index is None else index)
    return walk.Walk(
        None,
        None,
        np.array(addresses, ADDRESS),
        np.array(list(chain(*lists)), np.int64),
        np.zeros(len(ctas) + 1, np.int64),
        np.zeros(len(addresses), np.int64),
        records_for_jit(np.array(slots, SLOT)),
        starts(np.array([len(warp) for warp in ctas[0]])),
        np.arange(len(ctas[0]))[None],
        np.zeros(len(ctas), np.int64),
        index,
    )


def chosen(w):
    """The walk with its rows; decoding it must give the addresses back."""
    with np.errstate(over="ignore"):
        done = choose(w, np.unique(w.slots["row"]))
        table = np.array([done.rows[name] for name in STORED])
        rows = blank_rows(table)
        lengths = place_streams(rows)
        blank = {"addresses": np.zeros_like(w.addresses), "pool": np.zeros_like(w.pool)}
        again = done._replace(rows=rows, **blank)
        assert walk.decode(again)
    assert finished(rows, lengths)
    assert again.addresses["first"].tolist() == w.addresses["first"].tolist()
    assert again.pool.tolist() == w.pool.tolist()
    return done


def surprises(w):
    """How many residuals are not zero, besides the streams of lists and strides."""
    residuals = chosen(w).residuals
    return np.count_nonzero(residuals[2 * len(w.addresses) - np.sum(w.addresses["pool"] >= 0) :])


def test_a_linear_kernel_has_three_surprises_in_all():
    # The distances between warps and between CTAs, and in the second warp nothing to go by.
    ctas = [[[(0, EVERY, 4096 * c + 128 * w)] for w in range(8)] for c in range(20)]
    assert surprises(chunk(ctas)) == 2


def test_ctas_in_any_order_are_as_predictable():
    order = [5, 3, 9, 0, 1, 8, 2]
    ctas = [[[(0, EVERY, 4096 * c + 128 * w)] for w in range(8)] for c in order]
    assert surprises(chunk(ctas, order)) == 2


def test_a_loop_repeats_the_steps_of_the_cta_before():
    steps = [0, 8, 100, 104, 3]  # no constant stride
    ctas = [[[(0, 1, 1000 * c + 50 * w + s) for s in steps] for w in range(4)] for c in range(10)]
    first_cta = 4 * (len(steps) - 1) + 1
    assert surprises(chunk(ctas)) <= first_cta + 1


def test_an_index_predicts_what_it_addresses():
    rng = np.random.default_rng(1)
    ctas = []
    for _ in range(8):
        ids = [rng.integers(0, 4096, 32).tolist() for _ in range(4)]
        loads = [(0, EVERY, [(1 << 40) + i for i in own]) for own in ids]
        stores = [(1, EVERY, [(1 << 41) + 8 * i for i in own]) for own in ids]
        ctas.append([[load, store] for load, store in zip(loads, stores)])
    done = chosen(chunk(ctas))
    assert done.rows["kind"][1] == AddressKind.REFERENCE
    assert (done.rows["reference"][1], done.rows["scale"][1]) == (0, 3)
    n = len(ctas) * 4
    lanes_of_stores = done.residuals[-31 * n :]
    assert np.count_nonzero(lanes_of_stores) == 0


def test_scattered_addresses_are_taken_from_their_lowest():
    rng = np.random.default_rng(2)
    lists = [(1 << 40) + 4 * rng.integers(0, 1 << 20, 32) for _ in range(64)]
    done = chosen(chunk([[[(0, EVERY, own.tolist())] for own in lists]]))
    assert done.rows["kind"][0] == AddressKind.ORIGIN
    assert done.residuals.min() >= 0


def test_holes_in_the_mask_cost_nothing():
    masks = [0b1011, 0b11110001, 0b101, 0xFF00FF]
    warps = []
    for w, mask in enumerate(masks):
        lanes = [i for i in range(64) if mask >> i & 1]
        warps.append([(0, mask, [8 * i + 1024 * w for i in lanes])])
    assert surprises(chunk([warps])) == 1  # the distance of the warps


@pytest.mark.parametrize("value", [1 << 31, -(1 << 31) - 1])
def test_a_stride_beyond_32_bits_is_refused(value):
    done = chosen(chunk([[[(0, EVERY, 0)]]]))
    done.residuals[1] = value
    assert not walk.decode(done._replace(rows=fresh(done)))


def test_streams_shorter_than_the_walk_are_refused():
    done = chosen(chunk([[[(0, EVERY, list(range(32)))]]]))
    for n in range(len(done.residuals)):
        assert not walk.decode(done._replace(rows=fresh(done), residuals=done.residuals[:n]))
    assert not walk.decode(done._replace(rows=fresh(done), pool=done.pool[:31]))
    done.residuals[0] = 2  # neither strided nor a list
    assert not walk.decode(done._replace(rows=fresh(done)))


def fresh(done):
    """The rows as before the walk."""
    rows = blank_rows(np.array([done.rows[name] for name in STORED]))
    place_streams(rows)
    return rows

"""Sets and slices: those of the model."""

import numpy as np
import pytest

from lockstep._jit import jit
from lockstep.caches.geometry import LINES, MOST_ROWS, Sets, row_of
from lockstep.caches.points import l1_of, l2_of
from lockstep.errors import WorkloadError
from lockstep.gpus import library
from lockstep.model import link, memory, partition
from lockstep.model.cache import slice_hash

KINDS = ("linear", "xor", "ipoly")


def lines_of(rng, n=300):
    """Numbers of lines near and far, local memory's among them."""
    return [*range(50), *rng.integers(0, 1 << 34, n).tolist(), *((1 << 51) + k for k in range(9))]


def rows_of(sets, lines):
    rows = sets.rows()
    return [int(row_of(rows, line)) for line in lines]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 2, 3, 24, 64, 96, 1024])
def test_an_l1_spreads_lines_as_the_model_does(count, kind):
    lines = lines_of(np.random.default_rng(count))
    hash_ = slice_hash.build(kind, count)
    rows = rows_of(Sets(count, 128, kind), lines)
    assert rows == [int(slice_hash.index_of(hash_, line)) for line in lines]
    assert {*rows} <= {*range(count)}


@pytest.mark.parametrize("interleave", [128, 256, 384, 4096])
@pytest.mark.parametrize("hashes", [("linear", "linear"), ("ipoly", "linear"), ("xor", "ipoly")])
@pytest.mark.parametrize("slices", [1, 2, 5, 24, 96])
def test_an_l2_spreads_lines_as_the_model_does(slices, hashes, interleave):
    changes = {"l2.slice_hash": hashes[0], "l2.set_hash": hashes[1], "l2.sets": 12}
    changes |= {"dram.channels": slices, "l2.slices_per_channel": 1}
    changes |= {"l2.interleave_bytes": interleave}
    gpu = library.replace(library.gpu("QV100"), **changes)
    lines = lines_of(np.random.default_rng(slices))
    assert rows_of(l2_of(gpu).sets, lines) == model_rows(gpu, lines)


@pytest.mark.parametrize("name", ["QV100", "A100", "RTX3070", "TITANX", "H100"])
def test_caches_of_a_gpu_have_its_sets(name):
    gpu = library.gpu(name)
    lines = lines_of(np.random.default_rng(1))
    l1, l2 = l1_of(gpu), l2_of(gpu)
    assert (l1.line_bytes, l1.sets.count) == (gpu.l1.line_bytes, gpu.l1.sets)
    assert l1.bytes <= gpu.l1.bytes < l1.bytes + gpu.l1.sets * gpu.l1.line_bytes
    assert (l2.ways, l2.sets.count) == (gpu.l2.ways, slices_of(gpu) * gpu.l2.sets)
    assert rows_of(l2.sets, lines) == model_rows(gpu, lines)


def slices_of(gpu):
    return gpu.dram.channels * gpu.l2.slices_per_channel


def model_rows(gpu, lines):
    """The rows of the tags that the model looks at."""
    state = memory.build(gpu, link.build(1, gpu.dram.channels, 5, 16, 1, 2), 20, 90)
    addresses, rows = np.array(lines) * gpu.l2.line_bytes, np.zeros(len(lines), np.int64)
    look(state, addresses, rows)
    return rows.tolist()


@jit
def look(state, addresses, rows):
    """What the model does with addresses."""
    request = state.l2.entries[0]
    for k in range(len(addresses)):
        slice_ = slice_hash.index_of(state.slices.hash, addresses[k])
        partition.locate(state, request, slice_, addresses[k])
        rows[k] = request.row


def test_every_row_of_a_cache_is_used():
    for slices, count, line in [(1, 7, 32), (4, 24, 64), (6, 96, 128)]:
        sets = Sets(count, line, "ipoly", slices, "ipoly", 256)
        assert {*rows_of(sets, range(40 * count))} == {*range(count)}


def test_what_no_cache_can_be():
    for sets, words in [
        (Sets(4, 256), "lines of 256 bytes; expected 32, 64 or 128"),
        (Sets(0, 128), "0 sets in 1 slices"),
        (Sets(10, 128, slices=4), "10 sets in 4 slices; expected a multiple"),
        (Sets(MOST_ROWS + 1, 128), "expected at most"),
    ]:
        with pytest.raises(WorkloadError, match=words):
            sets.rows()
    assert [Sets(4, line).check() for line in LINES] == [None] * 3

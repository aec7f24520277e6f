"""An L2 that is warmed holds what one holds that served the same requests, one after the other."""

import random
from types import SimpleNamespace

import numpy as np
import pytest

from lockstep.model.link import KIND_ATOMIC, KIND_READ, KIND_REDUCTION, KIND_WRITE
from lockstep.model.warming import l2

pytestmark = pytest.mark.plain

SEVERAL = {"dram__channels": 2, "l2__slices_per_channel": 4, "l2__sets": 1}
GPUS = [
    {},
    {"l2__protocol": "write_fetch"},
    {"l2__replacement": "fifo"},
    {"l2__replacement": "nru", "l2__ways": 4},
    {"l2__replacement": "random", "l2__ways": 4},
    SEVERAL,
    SEVERAL | {"l2__sides": 2, "l2__side_reads": "near"},
    SEVERAL | {"l2__sides": 2, "l2__side_reads": "near", "l2__side_writes": "both"},
    {"dram__burst_length": 8},
]


def requests(seed, count=150):
    """Requests for a few lines more than there is room for; a full mask is of whole sectors."""
    draw = random.Random(seed)
    for _ in range(count):
        kind = draw.choice([KIND_READ, KIND_READ, KIND_WRITE, KIND_WRITE, KIND_ATOMIC])
        if kind == KIND_ATOMIC and draw.random() < 0.5:
            kind = KIND_REDUCTION
        sectors = draw.randrange(1, 16)
        full = sectors & draw.randrange(16) if kind == KIND_WRITE else 1
        line = draw.randrange(3 * 4 * 4)
        yield SimpleNamespace(
            kind=kind, sectors=sectors, full=full, policy=draw.choice([0, 0, 0, 1]), line=line
        )


@pytest.mark.long
@pytest.mark.parametrize("changes", GPUS, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_tags_are_those_of_a_simulation(rig, changes, seed):
    simulated = rig.MemorySide(sources=2, **changes)
    warmed = rig.MemorySide(sources=2, **changes)
    for n, request in enumerate(requests(seed)):
        address, source = 128 * request.line, n % 2
        details = {"full": request.full, "policy": request.policy, "source": source}
        simulated.send(request.kind, address, request.sectors, **details)
        simulated.finish()
        l2.access(warmed.memory, source, request, address)
        same_tags(simulated, warmed)
    counted = warmed.memory.counters.view(np.ndarray)
    assert not counted.copy().view(np.int64).any(), "nothing is counted"
    assert simulated.count.l2_evictions > 10, "lines had to go"


def same_tags(one, other):
    """All that is known of lines, and the order in which they go."""
    for name in ("lines", "keys", "epochs", "caches"):
        mine, theirs = (getattr(side.memory.l2.tags, name) for side in (one, other))
        np.testing.assert_array_equal(mine.view(np.ndarray), theirs.view(np.ndarray), name)
    held = [side.memory.l2.tags.held.view(np.ndarray) for side in (one, other)]
    for name in ("valid", "dirty", "partial", "pending"):
        there = one.memory.l2.tags.lines.reshape(-1) != 0
        np.testing.assert_array_equal(held[0][name][there], held[1][name][there], name)

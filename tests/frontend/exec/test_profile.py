from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from lockstep.frontend.exec.profile import Profiler
from lockstep.frontend.exec.state import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from lockstep.isa.instruction import OpClass, Space


@pytest.fixture(scope="module")
def synthetic(load_script):
    return load_script(Path(__file__).with_name("synthetic_streams.py"))


KINDS = {OpClass.LOAD: "ld", OpClass.ASYNC_COPY: "ld", OpClass.STORE: "st"}
KINDS |= {OpClass.ATOMIC: "atomic", OpClass.REDUCTION: "atomic"}


def naive(program, steps):
    """The counters, one set of touched sectors at a time."""
    counts = Counter()
    for step in (s for own in steps for s in own):
        row = program.code[step.instruction]
        counts["instructions"] += 1
        counts["threads"] += step.block.bit_count()
        counts["used"] += step.lanes.bit_count()
        kind, width = KINDS.get(row["op"]), int(row["width"])
        if kind is None or not width or not step.lanes:
            continue
        space = memory(row["space"], step.addresses[0])
        counts[space, kind, "requests"] += 1
        counts[space, kind, "threads"] += step.lanes.bit_count()
        counts[space, kind, "sectors"] += len(sectors(space, step, width))
    return counts


def memory(space, address):
    if space != Space.GENERIC:
        return Space(int(space)).name.lower()
    if SHARED_WINDOW <= address < SHARED_WINDOW + WINDOW_BYTES:
        return "shared"
    return "local" if LOCAL_WINDOW <= address < LOCAL_WINDOW + WINDOW_BYTES else "global"


def sectors(space, step, width):
    if space == "shared":
        return set()
    if space == "global":
        return {byte // 32 for a in step.addresses for byte in range(a, a + width)}
    words = {  # a thread's words lie 32 apart, those of neighbours side by side
        (a % WINDOW_BYTES + byte) // 4 * 32 + lane
        for lane, a in zip(step.places, step.addresses)
        for byte in range(width)
    }
    return {word // 8 for word in words}


@pytest.mark.parametrize("seed", range(60))
def test_the_counters_are_those_of_the_naive_twin(synthetic, seed):
    rng = np.random.default_rng(seed)
    program = synthetic.make(rng)
    profiler = Profiler(program)
    profile = profiler.start((7, 5, 3))
    total = Counter()
    for _ in range(int(rng.integers(0, 4))):
        words, steps = synthetic.stream(rng, program, 3, int(rng.integers(0, 40)))
        profile.add(words)
        total += naive(program, steps)
    found = profile.metrics()
    expected = {
        "launch__grid_size": 105,
        "smsp__inst_executed.sum": total["instructions"],
        "smsp__thread_inst_executed.sum": total["threads"],
        "smsp__thread_inst_executed_pred_on.sum": total["used"],
        "sim__l1_atomic_sectors.sum": total["global", "atomic", "sectors"],
    }
    for kind in ("ld", "st"):
        for space in ("global", "local", "shared"):
            expected[f"smsp__inst_executed_op_{space}_{kind}.sum"] = total[space, kind, "requests"]
            expected[f"sim__thread_inst_{space}_{kind}.sum"] = total[space, kind, "threads"]
            if space != "shared":
                name = f"l1tex__t_sectors_pipe_lsu_mem_{space}_op_{kind}.sum"
                expected[name] = total[space, kind, "sectors"]
    for space in ("global", "shared"):
        expected[f"sim__inst_{space}_atomic.sum"] = total[space, "atomic", "requests"]
        expected[f"sim__thread_inst_{space}_atomic.sum"] = total[space, "atomic", "threads"]
    ratio = found.pop("smsp__thread_inst_executed_per_inst_executed.ratio")
    assert found == expected
    if total["instructions"]:
        assert ratio == total["threads"] / total["instructions"]
    else:
        assert np.isnan(ratio)

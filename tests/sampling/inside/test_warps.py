"""What warps execute, against counting instruction by instruction."""

from collections import Counter

import numpy as np
import pytest

from lockstep.sampling.inside.warps import WarpStreams
from lockstep.workload import ADDRESS, RUN, WARP, Cta


def cta(*warps):
    """A CTA whose warps are lists of runs: (first instruction, how many)."""
    runs = [(first, count, -1) for warp in warps for first, count in warp]
    table = np.zeros(len(warps), WARP)
    table["runs"] = [len(warp) for warp in warps]
    table["first_run"] = np.cumsum([0, *(len(warp) for warp in warps)])[:-1]
    return Cta((0, 0, 0), table, np.array(runs, RUN), np.zeros(0, ADDRESS), np.zeros(0, np.int64))


def drawn(rng, n):
    """CTAs of two warps, of which some do the same."""
    runs = [(0, 4), (4, 3), (2, 2), (9, 1), (4, 3)]
    return [cta(*([runs[k] for k in rng.integers(0, 5, 2)] for _ in range(2))) for _ in range(n)]


def flat(each):
    """Of each warp of a CTA, the instructions that it executes."""
    return [
        [i for first, count, _ in each.runs[w["first_run"] :][: w["runs"]].tolist()
         for i in range(first, first + count)]
        for w in each.warps
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_types_executions_and_times_are_those_of_instructions(seed):
    rng = np.random.default_rng(seed)
    ctas = drawn(rng, 40)
    streams = WarpStreams(2)
    for begin in range(0, 40, 7):
        streams.add(ctas[begin : begin + 7])
    every = [warp for each in ctas for warp in flat(each)]
    executions = Counter(i for warp in every for i in warp)
    assert streams.executions.tolist() == [executions[k] for k in range(len(streams.executions))]
    assert streams.instructions == executions.total()
    for n in (1, 13, 40):
        types = Counter(tuple(sorted(warp)) for warp in every[: 2 * n])
        assert streams.dominance(n) == max(types.values()) / (2 * n)
    times = rng.random(len(streams.executions))
    streams.ended(10)
    streams.predict(times, 12)
    taken = [max(sum(times[i] for i in warp) for warp in flat(each)) for each in ctas[12:]]
    assert streams.durations == pytest.approx(taken)


def test_what_is_read_later_is_predicted_too_and_new_code_takes_the_mean():
    streams = WarpStreams(1)
    streams.add([cta([(0, 2)])])
    streams.predict(np.array([3.0, 5.0]), 1)
    streams.add([cta([(0, 2), (1, 1)]), cta([(2, 3)])])
    assert streams.durations == [13.0, 12.0]


def test_blocks_begin_where_a_warp_comes_from_elsewhere():
    streams = WarpStreams(1)
    streams.add([cta([(0, 6), (2, 4), (8, 2)])])
    assert streams.blocks.tolist() == [0, 2, 6, 8, 10]
    streams.add([cta([(0, 3), (9, 1)])])
    assert streams.blocks.tolist() == [0, 2, 3, 6, 8, 9, 10]

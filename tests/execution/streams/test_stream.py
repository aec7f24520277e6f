from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from lockstep.execution.streams.stream import Expander


@pytest.fixture(scope="module")
def synthetic(load_script):
    return load_script(Path(__file__).with_name("synthetic_streams.py"))


def count(mask):
    """Lanes of a mask."""
    return (mask & (1 << 64) - 1).bit_count()


def told(program, cta, warp):
    """(instruction, lanes, addresses) of each instruction that a warp of a CTA executes."""
    used = iter(cta.addresses[warp["first_address"] :][: warp["addresses"]].tolist())
    for static, n, mask in cta.runs[warp["first_run"] :][: warp["runs"]].tolist():
        for k in range(static, static + n):
            lanes = count(mask)
            addresses = []
            if lanes and program.code[k]["width"]:
                first, stride, pool = next(used)
                addresses = [first + lane * stride for lane in range(lanes)]
                if pool >= 0:
                    addresses = cta.pool[pool : pool + lanes].tolist()
                    assert addresses[0] == first
            yield k, mask, addresses
    assert not list(used)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("lanes", [32, 64])
def test_a_cta_says_what_its_stream_said(synthetic, lanes, seed):
    rng = np.random.default_rng(seed)
    program, warps = synthetic.make(rng, lanes), int(rng.integers(1, 5))
    words, steps = synthetic.stream(rng, program, warps, int(rng.integers(0, 60)))
    [cta] = Expander(program, warps, 1).ctas([(3, 2, 1)], words, [len(words)])
    assert cta.index == (3, 2, 1) and len(cta.warps) == warps
    for warp, own in zip(cta.warps, steps):
        widths = [program.code[s.instruction]["width"] for s in own]
        expected = [
            (s.instruction, s.lanes, s.addresses if width else []) for s, width in zip(own, widths)
        ]
        assert list(told(program, cta, warp)) == expected
        assert warp["warp_instructions"] == len(own)
        assert warp["thread_instructions"] == sum(count(s.lanes) for s in own)


@pytest.mark.parametrize("seed", range(20))
def test_ctas_of_one_call_are_those_of_a_call_each(synthetic, seed):
    rng = np.random.default_rng(seed)
    program, warps = synthetic.make(rng), int(rng.integers(1, 5))
    streams = [synthetic.stream(rng, program, warps, int(n))[0] for n in rng.integers(0, 40, 6)]
    ends = np.cumsum([len(s) for s in streams]).tolist()
    indices = [(k, 0, 0) for k in range(len(streams))]
    together = Expander(program, warps, 8).ctas(indices, np.concatenate(streams), ends)
    for index, stream, cta in zip(indices, streams, together, strict=True):
        [alone] = Expander(program, warps, 1).ctas([index], stream, [len(stream)])
        assert cta.index == alone.index
        for name in ("warps", "runs", "addresses", "pool"):
            np.testing.assert_array_equal(getattr(cta, name), getattr(alone, name))


@pytest.mark.parametrize("seed", range(10))
def test_runs_and_addresses_are_short(synthetic, seed):
    """What could be one run is one, and evenly spaced addresses need no list."""
    rng = np.random.default_rng(seed)
    program = synthetic.make(rng)
    words, _ = synthetic.stream(rng, program, 2, 50)
    [cta] = Expander(program, 2, 1).ctas([(0, 0, 0)], words, [len(words)])
    for warp in cta.warps:
        runs = cta.runs[warp["first_run"] :][: warp["runs"]].tolist()
        for (static, count, mask), (later, _, other) in pairwise(runs):
            assert (static + count, mask) != (later, other)
        for _, _, pool in cta.addresses[warp["first_address"] :][: warp["addresses"]].tolist():
            assert pool < 0 or len(set(np.diff(cta.pool[pool : pool + 32]))) > 1


def test_strides_of_more_than_32_bits_are_listed(synthetic):
    rng = np.random.default_rng(0)
    while True:
        program = synthetic.make(rng)
        words, steps = synthetic.stream(rng, program, 1, 1)
        wide = [
            s for s in steps[0] if len(s.addresses) == 32 and program.code[s.instruction]["width"]
        ]
        if wide:
            break
    item = next(
        i
        for i in program.items[int(words[0])]
        if not i.guarded and i.instruction == wide[0].instruction
    )
    words[item.word : item.word + 32] = np.arange(32) << 33
    [cta] = Expander(program, 1, 1).ctas([(0, 0, 0)], words, [len(words)])
    found = [a for k, _, a in told(program, cta, cta.warps[0]) if k == item.instruction]
    assert found == [[lane << 33 for lane in range(32)]]

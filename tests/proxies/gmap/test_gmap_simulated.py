"""Proxies by G-MAP are workloads as any other: simulated, written as traces of both formats."""

from dataclasses import replace

import numpy as np
import pytest

import lockstep
from gmap_models import proxy_of, random_tuple
from lockstep import api
from lockstep.frontend.proxy.gmap import Paths
from lockstep.frontend.proxy.gmap.sites import ORDINAL_BITS
from lockstep.isa.instruction import OpClass


@pytest.mark.parametrize("name", ["app.lst", "traces"])
def test_a_trace_of_it_is_the_same_workload(name, tmp_path):
    workload = proxy_of(random_tuple(6)).workload(seed=4)
    api.save(workload, tmp_path / name)
    again = api.load(tmp_path / name)
    for ours, theirs in zip(workload.kernels[0].ctas(), again.kernels[0].ctas(), strict=True):
        assert theirs.addresses["first"].tolist() == ours.addresses["first"].tolist()
        assert theirs.warps["addresses"].tolist() == ours.warps["addresses"].tolist()
        assert theirs.warps["warp_instructions"].tolist() == ours.warps["runs"].tolist()


def test_it_is_simulated_to_its_end():
    workload = proxy_of(random_tuple(6)).workload()
    result = lockstep.simulate(workload, lockstep.gpu("QV100", ["sm.count=2"]))
    expected = sum(int(c.warps["warp_instructions"].sum()) for c in workload.kernels[0].ctas())
    assert result.warp_instructions == expected


def test_warps_that_draw_other_numbers_of_barriers_do_not_wait_for_ever():
    known = random_tuple(6)
    known.sites["op"][:2] = OpClass.LOAD, OpClass.BARRIER
    load, barrier = 0, 1 << ORDINAL_BITS
    paths = [np.array([load, *[barrier] * n, load]) for n in (0, 1, 5)]
    reuse = type(known.reuse).of([known.reuse[0]] * 3)
    known = replace(known, paths=Paths.of(paths, [1, 1, 1]), reuse=reuse)
    workload = proxy_of(known, (6, 1, 1), (256, 1, 1)).workload()
    counts = {int(n) for cta in workload.kernels[0].ctas() for n in cta.warps["runs"]}
    assert counts == {3, 4, 8}
    result = lockstep.simulate(workload, lockstep.gpu("QV100", ["sm.count=2"]))
    assert result.warp_instructions == sum(
        n for cta in workload.kernels[0].ctas() for n in cta.warps["runs"]
    )

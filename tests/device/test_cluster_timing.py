"""Clusters in time: recorded runs take the same cycles, at issue too, with the same results."""

import numpy as np
import pytest

import lockstep
from lockstep.gpus import library
from ptx_twin import cluster_programs
from ptx_twin.cluster_programs import MEET, PROGRAMS, kernel

GRID, CLUSTER = (8, 2), (2, 2)
NAMES = (
    "atomics on all CTAs",
    "stores that complete a barrier",
    "a flag in another CTA is awaited without a barrier",
    "a copy to every other CTA",
    "some threads end before the others wait",
)


def launch(device, text, grid=GRID, cluster=CLUSTER):
    return cluster_programs.launch(device.load_ptx(text)["k"], grid, cluster)


@pytest.fixture(scope="module")
def expected():
    device = lockstep.Device("H100")
    return {name: launch(device, PROGRAMS[name])[1].numpy() for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_run_takes_the_cycles_of_the_run(tmp_path, expected, name):
    device = lockstep.Device("H100", timing=True)
    with device.record(tmp_path / "run.lst"):
        done, out = launch(device, PROGRAMS[name])
    np.testing.assert_array_equal(out.numpy(), expected[name])
    cycles = device.result.cycles
    trace = lockstep.load(tmp_path / "run.lst")
    assert trace.kernels[0].cluster == (2, 2, 1)
    assert lockstep.simulate(trace, device.gpu).cycles == cycles
    assert lockstep.simulate(trace, device.gpu, threads=2).cycles == cycles
    assert done.cycles == cycles
    if not name.startswith(("a copy", "stores")):  # no words for copies, and waits for objects
        lockstep.save(trace, tmp_path / "folder")
        again = lockstep.load(tmp_path / "folder")
        bare = library.replace(
            device.gpu, **{"constant.operand_bytes": 0}
        )  # nor for constant operands
        assert lockstep.simulate(again, bare).cycles == lockstep.simulate(trace, bare).cycles


@pytest.mark.parametrize("name", NAMES)
def test_at_issue_the_results_are_the_same(tmp_path, expected, name):
    device = lockstep.Device("H100", timing=True, at_issue=True)
    with device.record(tmp_path / "run.lst"):
        done, out = launch(device, PROGRAMS[name])
    np.testing.assert_array_equal(out.numpy(), expected[name])
    trace = lockstep.load(tmp_path / "run.lst")
    kept = sum(int(cta.warps["thread_instructions"].sum()) for cta in trace.kernels[0].ctas())
    assert kept == done.timed().thread_instructions
    assert lockstep.simulate(trace, device.gpu).cycles == device.result.cycles


def test_at_issue_ctas_wait_for_those_that_never_come():
    device = lockstep.Device("H100", timing=True, at_issue=True)
    body = "setp.eq.u32 %p, %r, 1; @%p barrier.sync 3, 96;" + MEET
    done, _ = launch(device, kernel(body), 2, 2)
    message = r"in CTA \(1, 0, 0\) nobody can go on: warp 0, warp 1 wait at barrier 3"
    with pytest.raises(lockstep.LaunchError, match=message):
        done.wait()


def chase(address):
    """A chain of 64 loads, of which each waits for the one before."""
    loop = "LOOP: ld.shared::cluster.u32 %y, [%y]; add.u32 %c, %c, 1; setp.lt.u32 %p, %c, 64;"
    return kernel(
        "mov.u32 %c, 0; mapa.shared::cluster.u32 %y, %x, " + address + ";"
        "st.shared::cta.u32 [%x], %y;" + MEET + loop + "@%p bra LOOP; mov.u32 %a, %y;" + MEET
    )


def test_a_load_from_another_cta_takes_the_latency_of_the_network():
    """What the loads find leads to the CTA of this rank again, in whichever they look."""
    device = lockstep.Device("H100", timing=True)
    near, far = (launch(device, chase(rank), 2, 2)[0].cycles for rank in ("%r", "%o"))
    shared = device.gpu.shared
    # Every other load of the chain is in the other CTA: %o of %o is %r.
    assert far - near == pytest.approx(32 * (shared.remote_latency - shared.latency), rel=0.05)

"""Barriers whose numbers and counts of threads registers hold: ``cubins/named.cu``."""

import numpy as np
import pytest

import lockstep
from cubin_files import cubins
from lockstep.errors import WorkloadError

GPUS = {"sm_75": "RTX2060", "sm_80": "A100", "sm_90": "H100", "ptx": "A100"}
MODES = {
    "executed": {},
    "timed": {"timing": True},
    "at issue": {"timing": True, "at_issue": True},
}
PAIRS = [("sm_75", "timed"), *((b, m) for b in ("sm_90", "ptx") for m in MODES)]


def opened(build, changes=(), **options):
    """A device with the module of a build."""
    gpu = lockstep.gpu(GPUS[build], ["sm.count=2", *changes])
    device = lockstep.Device(gpu, limit_instructions=1_000_000, **options)
    code = cubins("named")[build]
    module = device.load_ptx(code.decode()) if build == "ptx" else device.load_cubin(code)
    return device, module


@pytest.fixture(params=PAIRS, ids=" ".join)
def module(request):
    build, mode = request.param
    device, module = opened(build, **MODES[mode])
    with device:
        yield module


@pytest.mark.parametrize(("first", "turns"), [(1, 1), (6, 5)])
def test_pairs_of_warps_hand_values_on(module, first, turns):
    out = module.device.zeros(256, "i4")
    module["handed_on"][1, 256](out, first, 64, turns)
    thread = np.arange(256)
    sums = turns * (turns + 1) // 2 * (thread % 32) + turns * (thread // 64)
    np.testing.assert_array_equal(out.numpy(), np.where(thread // 32 % 2, sums, 0))


@pytest.mark.parametrize("threads", [32, 64, 128])
def test_groups_of_warps_count_each_at_its_own(module, threads):
    values = np.random.default_rng(threads).integers(0, 100, 256, "i4")
    out = module.device.zeros(256, "i4")
    module["counted"][1, 256](out, module.device.array(values), threads)
    odd = (values & 1).reshape(-1, threads).sum(1)
    np.testing.assert_array_equal(out.numpy(), np.repeat(odd, threads))


@pytest.mark.parametrize("number", [0, 9, 15])
def test_all_meet_at_a_number_that_is_computed(module, number):
    out = module.device.zeros(200, "i4")
    module["everybody"][1, 200](out, number)
    np.testing.assert_array_equal(out.numpy(), 199 - np.arange(200))


def cycles(build, number, later, **options):
    """Of 200 threads that meet at one barrier; those with numbers open so much later."""
    change = f"sm.named_barrier_latency={later}"
    device, module = opened(build, changes=[change], timing=True, **options)
    with device:
        return module["everybody"][1, 200](device.zeros(200, "i4"), number).cycles


@pytest.mark.parametrize("at_issue", [False, True])
@pytest.mark.parametrize("build", ["sm_90", "ptx"])
def test_the_model_knows_which_barrier_it_is(build, at_issue):
    at_once = cycles(build, 0, 0, at_issue=at_issue)
    assert cycles(build, 0, 11, at_issue=at_issue) == at_once
    assert cycles(build, 5, 0, at_issue=at_issue) == at_once
    later = cycles(build, 5, 11, at_issue=at_issue) - at_once
    assert 11 <= later <= 13, "the stores that follow may miss a cycle of the L2's clock"


@pytest.mark.parametrize("threads", [1, 2])
def test_at_issue_and_before_take_the_same_time(threads):
    found = set()
    for at_issue in (False, True):
        device, module = opened("sm_90", timing=True, at_issue=at_issue, threads=threads)
        with device:
            out = device.zeros(256, "i4")
            found.add(module["handed_on"][2, 256](out, 3, 64, 7).cycles)
    assert len(found) == 1


def test_traces_keep_the_numbers(tmp_path):
    device, module = opened("sm_80", timing=True)
    with device:
        with device.record(tmp_path / "own.lst"):
            launch = module["handed_on"][1, 256](device.zeros(256, "i4"), 1, 64, 5)
        cycles = launch.cycles
        gpu = device.gpu
    assert lockstep.simulate(tmp_path / "own.lst", gpu).cycles == cycles


def written(folder, kernel, *arguments):
    """The barriers of an Accel-Sim trace of 256 threads."""
    device, module = opened("sm_80")
    with device, device.record(folder):
        arrays = [device.zeros(256, "i4") for _ in range(1 + (kernel == "counted"))]
        module[kernel][1, 256](*arrays, *arguments)
    (path,) = folder.glob("kernel-*.traceg")
    return [line.split() for line in path.read_text().splitlines() if "BAR." in line]


def test_accelsims_traces_keep_a_number(tmp_path):
    lines = written(tmp_path / "traces", "everybody", 9)
    assert [line[-3] for line in lines] == ["9"] * 8


def test_accelsims_traces_have_no_room_for_a_number_and_a_count(tmp_path):
    with pytest.raises(WorkloadError, match=r"barrier 1 of 64 threads has no form.*\.lst"):
        written(tmp_path / "traces", "counted", 64)

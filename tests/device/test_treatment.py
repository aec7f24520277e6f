"""What becomes of launches: simulated, warmed, or executed only."""

import numpy as np
import pytest

import lockstep
from lockstep.device import Treatment
from lockstep.errors import LockstepError
from lockstep.execution.programs.program import Program

SIMULATE, WARM, EXECUTE = Treatment


def run(gpu, ptx, choose, launches=4, n=2048, **options):
    """Launches of one kernel on the same data; the device is open until the next one."""
    device = lockstep.Device(gpu, timing=True, choose=choose, **options)
    module = device.load_ptx(ptx)
    x, y = device.array(np.ones(n, "f4")), device.zeros(n)
    done = [module["axpy"][n // 128, 128](n, 1.0, x, y) for _ in range(launches)]
    np.testing.assert_array_equal(y.numpy(), np.full(n, float(launches)))
    return device, done


def only(number, others):
    """Simulate one launch."""
    return lambda launch: SIMULATE if launch.id == number else others


def test_a_launch_after_warmed_ones_takes_as_long_as_after_simulated_ones(small_gpu, ptx):
    _, full = run(small_gpu, ptx, None)
    device, warmed = run(small_gpu, ptx, only(3, WARM))
    _, cold = run(small_gpu, ptx, only(3, EXECUTE))
    assert warmed[2].cycles == full[2].cycles < cold[2].cycles == full[0].cycles
    assert device.launches == [warmed[2]]
    assert device.result.kernels.id.tolist() == [3]


def test_a_launch_whose_code_does_not_note_lines_is_seen_by_its_streams(
    small_gpu, ptx, monkeypatch
):
    _, noted = run(small_gpu, ptx, only(3, WARM))
    monkeypatch.setattr(Program, "notes_all_lines", False)
    _, read = run(small_gpu, ptx, only(3, WARM))
    assert read[2].cycles == noted[2].cycles


def test_warmed_launches_between_simulated_ones_count_from_the_last_one_on(small_gpu, ptx):
    _, full = run(small_gpu, ptx, None, launches=6)
    _, some = run(small_gpu, ptx, lambda x: SIMULATE if x.id in (2, 5) else WARM, launches=6)
    assert [some[k].cycles for k in (1, 4)] == [full[k].cycles for k in (1, 4)]


def test_a_recording_has_warmed_launches_too(small_gpu, ptx, tmp_path):
    with lockstep.Device(small_gpu, timing=True, choose=only(2, WARM)) as device:
        with device.record(tmp_path / "t.lst"):
            module, x, y = device.load_ptx(ptx), device.array(np.ones(512, "f4")), device.zeros(512)
            done = [module["axpy"][4, 128](512, 1.0, x, y) for _ in range(3)]
        cycles = done[1].cycles
    kernels = lockstep.load(tmp_path / "t.lst").kernels
    assert [len(list(kernel.ctas())) for kernel in kernels] == [4, 4, 4]
    _, usual = run(small_gpu, ptx, only(2, WARM), launches=3, n=512)
    assert cycles == usual[1].cycles


CONSTANTS = """
.version 7.0
.target sm_70
.address_size 64
.const .align 4 .b8 table[16384];
.visible .entry sum(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    mov.u64 %rd2, table;
    mov.u32 %r1, 0;
    mov.u32 %r3, 0;
AGAIN:
    cvt.u64.u32 %rd3, %r1;
    add.u64 %rd4, %rd2, %rd3;
    ld.const.u32 %r2, [%rd4];
    add.u32 %r3, %r3, %r2;
    add.u32 %r1, %r1, 64;
    setp.lt.u32 %p1, %r1, 1024;
    @%p1 bra AGAIN;
    st.global.u32 [%rd1], %r3;
    ret;
}
"""


def test_constants_of_warmed_launches_are_in_the_caches(small_gpu):
    def cycles(choose):
        with lockstep.Device(small_gpu, timing=True, choose=choose) as device:
            kernel, out = device.load_ptx(CONSTANTS)["sum"], device.zeros(1, np.uint32)
            done = [kernel[8, 32](out) for _ in range(2)]
            return done[1].cycles

    full, warmed, cold = cycles(None), cycles(only(2, WARM)), cycles(only(2, EXECUTE))
    assert abs(warmed / full - 1) < 0.01 < cold / full - 1.1


def test_warming_takes_no_time_and_is_not_counted(small_gpu, ptx):
    device, _ = run(small_gpu, ptx, lambda launch: WARM)
    assert device.clock == 0
    counters = device.result.run
    assert not counters.kernels
    for counted in (counters.sm, counters.partition):
        copies = counted["copy_sectors"].sum() if "copy_sectors" in counted.dtype.names else 0
        words = counted.copy().view(np.int64)
        assert words.sum() == copies, "the copy of x was counted, and nothing else"


def test_it_is_asked_of_each_launch_in_order(small_gpu, ptx):
    asked = []

    def choose(launch):
        asked.append((launch.id, launch.kernel.name, launch.geometry.grid, launch.run))
        return (WARM, EXECUTE, SIMULATE, WARM)[launch.id - 1]

    _, done = run(small_gpu, ptx, choose)
    assert asked == [(k, "axpy", (16, 1, 1), None) for k in range(1, 5)]
    assert [launch.treatment for launch in done] == [WARM, EXECUTE, SIMULATE, WARM]
    assert [launch.run is not None for launch in done] == [False, False, True, False]
    with pytest.raises(LockstepError, match="was not simulated: its treatment is WARM"):
        _ = done[0].cycles


def test_choosing_needs_timing(small_gpu):
    with pytest.raises(LockstepError, match="choose needs timing=True"):
        lockstep.Device(small_gpu, choose=lambda launch: WARM)


def test_an_event_after_warmed_launches_is_that_of_the_last_simulated_one(small_gpu, ptx):
    device, done = run(small_gpu, ptx, only(1, WARM))
    assert device.event().record().cycle == device.clock >= done[0].timed().end


def test_a_warmed_launch_that_fails_says_so_and_the_others_go_on(small_gpu, ptx):
    with lockstep.Device(small_gpu, timing=True, choose=only(2, WARM)) as device:
        module, y = device.load_ptx(ptx), device.zeros(1024)
        with pytest.raises(lockstep.LaunchError):
            module["wild"][2, 32](12345 * 4)
        assert module["axpy"][8, 128](1024, 1.0, y, y).cycles > 0


@pytest.mark.parametrize("options", [{"threads": 2}, {"at_issue": True}])
def test_options_of_the_simulation_leave_what_was_warmed_as_it_is(small_gpu, ptx, options):
    def choose(launch):
        return SIMULATE if launch.id == 4 else WARM

    usual = run(small_gpu, ptx, choose)[1][3]
    other = run(small_gpu, ptx, choose, **options)[1][3]
    assert other.cycles == usual.cycles

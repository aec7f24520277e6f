"""What a profiler leaves in the L2 that runs a kernel several times."""

import numpy as np
import pytest

import lockstep
from lockstep.device.profiler import BLOCK, COPIES, OTHERS, KernelReplay
from lockstep.errors import LockstepError
from lockstep.workload.warm import MemoryPass
from saying import say

WRITES = "ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], 1;"


def compared(device):
    """Whatever is allocated is compared with a copy of it."""
    places = [(address, size) for address, size in device.memory.allocations() if size]
    return [MemoryPass(a + apart, size) for a, size in places for apart in (0, COPIES)]


def restored(array, start, size):
    """A part of an array is written again."""
    place = array.pointer + start
    return [MemoryPass(place + COPIES, size), MemoryPass(place, size, written=True)]


def test_all_memory_is_compared_and_changed_blocks_are_restored(small_gpu, ptx):
    per_block = BLOCK // 4
    with lockstep.Device(small_gpu) as device:
        x = device.array(np.ones(256, "f4"))
        y = device.array(np.zeros(2 * per_block + 200, "f4"))
        launch = device.load_ptx(ptx)["axpy"][2, 128](
            256, 1.0, x.pointer, y.pointer + 2 * BLOCK - 512
        )
        replay = KernelReplay(small_gpu, device.memory)
        (others, *found), again = list(replay.passes(launch)), list(replay.passes(launch))
        assert others == MemoryPass(OTHERS, 2 * 6 << 20), "the L2 has 6 MiB, of QV100's channels"
        changed = restored(y, BLOCK, BLOCK) + restored(y, 2 * BLOCK, 800)
        assert found == again == compared(device) + changed
        content = y.numpy()
        assert content.sum() == 256 and content[2 * per_block - 128] == 1, "once, as launched"
        assert device.services.launches == 1


def test_a_program_sees_each_launch_once(ptx):
    gpu = lockstep.gpu("QV100", ["sm.count=4", "launch.l2=replay"])
    with lockstep.Device(gpu, timing=True) as device:
        axpy = device.load_ptx(ptx)["axpy"]
        x, y = device.array(np.ones(128, "f4")), device.zeros(128)
        for _ in range(3):
            axpy[1, 128](128, 2.0, x, y)
        assert y.numpy().tolist() == [6.0] * 128


def test_of_a_kernel_that_asks_the_host_nothing_is_restored(capsys):
    gpu = lockstep.gpu("QV100", ["sm.count=4", "launch.l2=replay"])
    with lockstep.Device(gpu, timing=True) as device:
        out = device.zeros(1, np.int32)
        launch = device.load_ptx(say(".param .u64 out", WRITES))["say"][1, 1](out)
        assert launch.cycles > 0 and out.numpy().tolist() == [1]
        assert capsys.readouterr().out == "Hi\n"
        passes = list(KernelReplay(gpu, device.memory).passes(launch))
        assert passes[1:] == compared(device) and out.pointer in [one.address for one in passes]
        assert capsys.readouterr().out == ""


def test_an_error_is_told_once_and_what_came_before_it_is_undone(ptx):
    gpu = lockstep.gpu("QV100", ["sm.count=4", "launch.l2=replay"])
    with lockstep.Device(gpu, timing=True) as device:
        x, y = device.array(np.ones(256, "f4")), device.zeros(128)
        launch = device.load_ptx(ptx)["axpy"][2, 128](256, 2.0, x, y)
        with pytest.raises(LockstepError, match="axpy"):
            device.synchronize()
        assert launch.error is not None
        device.synchronize()
        assert y.numpy().tolist() == [2.0] * 128, "the first block, once"

"""Kernels whose warps have 64 lanes, executed and timed; and how many CTAs of them a GPU holds."""

import numpy as np
import pytest

from lane_kernels import Block, Kernel, launch
from lockstep import workload
from lockstep.device.limits import places
from lockstep.engine import run
from lockstep.engine.record import totals
from lockstep.execution.lanes.types import I32, I64
from lockstep.execution.launches.resident import Geometry
from lockstep.execution.programs.program import Ending, Recording
from lockstep.gpus import library
from lockstep.isa.instruction import OpClass, Space


@pytest.fixture(params=[32, 64])
def lanes(request):
    return request.param


@pytest.fixture
def gpu(small_gpu, lanes):
    return library.replace(small_gpu, **{"sm.warp_size": lanes})


def loads(lift):
    """Those lanes load whose element of an array is not zero, from where another one says."""
    lift.b.active = lift.nonzero(lift.load(0, I32))
    lift.stream.lanes(lift.number)
    lift.record_addresses(lift.access(2, lift.load(1, I64), 4).address)


def test_what_64_lanes_execute_is_what_is_timed(gpu, lanes):
    """Three warps: one loads with all lanes, one with its last, one with none."""
    threads = 3 * lanes
    chosen = np.zeros(threads, np.int32)
    chosen[:lanes], chosen[2 * lanes - 1] = 1, 1
    index = np.arange(threads) * 32  # a line each
    kernel = Kernel(
        lanes,
        [Block(loads, Ending.JUMP, next=1), Block(lambda lift: None)],
        Recording.EVERYTHING,
        widths=[4, 0],
    )
    with launch(kernel, threads, chosen, index, np.zeros(32 * threads, np.int32)) as (execute, _):
        code = execute.program.code
        code["op"], code["space"] = [OpClass.LOAD, OpClass.EXIT], [Space.GLOBAL, Space.NONE]
        timed = workload.Kernel(
            id=0,
            name="k",
            grid=(1, 1, 1),
            block=(threads, 1, 1),
            registers=16,
            shared_bytes=0,
            code=workload.Code(code, execute.program.texts),
            ctas=execute.ctas,
            warp_size=lanes,
        )
        counters = totals(run(workload.Workload("wide", [timed]), gpu).sm)
    assert counters["warp_instructions"] == 6
    assert counters["thread_instructions"] == threads + lanes + 1
    assert counters["transactions"] == lanes + 1


def test_a_gpu_holds_as_many_ctas_as_it_has_places_for_their_warps(gpu, lanes):
    program = Kernel(lanes, [Block(lambda lift: None)]).program()
    program.registers = 16
    geometry = Geometry((10_000, 1, 1), (1024, 1, 1), lanes)
    held = gpu.sm.warps // (1024 // lanes)
    assert places(program, geometry, gpu, True) == gpu.sm.count * held

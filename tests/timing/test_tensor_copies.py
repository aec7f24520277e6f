"""Tensor copies take the lines of their rows, and as long as these do."""

import numpy as np
import pytest

import lockstep
from ptx_twin import tensor as twin
from ptx_twin import tensor_programs as programs

SECTOR = 32
LINE_INTERVAL = 2  # cycles: 128 bytes at sm.memory.bulk_load_bytes, 64 a cycle


@pytest.fixture(scope="module")
def device():
    with lockstep.Device("H100", timing=True, limit_instructions=1_000_000) as device:
        yield device


def run(device, case, body):
    """A launch of one warp."""
    made = programs.map_of(device, case, device.zeros(case.bytes, np.uint8))
    kernel = device.load_ptx(programs.kernel(body))["k"]
    at = np.array([*case.at, *[0] * (5 - len(case.at))], np.int32)
    buffer = device.zeros(programs.SHARED, np.uint8)
    return kernel[1, 32](made, buffer, at, np.zeros(3, np.uint16), 0, twin.tile_bytes(case))


def sectors(case):
    """How many sectors the tile touches, row by row."""
    touched = 0
    for row in twin.rows(case):
        inside = [p for p in row if all(0 <= x < n for x, n in zip(p, case.sizes))]
        places = [sum(x * s for x, s in zip(p, case.strides)) for p in inside]
        touched += len({p // SECTOR for p in places})
    return touched


CASES = [
    {"sizes": (512, 64), "strides": (4, 2048), "box": (32, 64)},  # 64 rows of a line
    {"sizes": (512, 64), "strides": (4, 2048), "box": (32, 64), "at": (496, 40)},
    {"sizes": (512, 64), "strides": (4, 2048), "box": (12, 16), "at": (4, 0)},
    {"sizes": (512, 64), "strides": (4, 2048), "box": (32, 64), "steps": (1, 4)},
]


@pytest.mark.parametrize("options", CASES)
def test_sectors_of_a_load_and_a_store(device, options):
    case = programs.matrix(**options)
    form = "cp.async.bulk.tensor.{}.global.shared::cta.bulk_group"
    load = run(device, case, programs.load_body(2)).metrics
    store = run(device, case, programs.store_body(2, form)).metrics
    assert load["sim__bulk_load_sectors.sum"] == sectors(case)
    assert store["sim__bulk_store_sectors.sum"] == sectors(case)
    assert load["sim__bulk_store_sectors.sum"] == store["sim__bulk_load_sectors.sum"] == 0


STORE = f"""{programs.HEADER}
.visible .entry k(.param .align 64 .b8 map[128])
{{
.reg .b64 %m; .shared .align 128 .b8 tile[16384];
mov.b64 %m, map; cvta.param.u64 %m, %m;
cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%m, {{0, 0}}], [tile];
ret;
}}
"""


@pytest.mark.parametrize("stride", [128, 2048])
def test_each_line_takes_its_turn(device, stride):
    """Whether or not the rows lie next to each other."""
    kernel, times = device.load_ptx(STORE)["k"], {}
    for rows in (16, 64):
        case = programs.matrix(sizes=(32, 64), strides=(4, stride), box=(32, rows))
        made = programs.map_of(device, case, device.zeros(case.bytes, np.uint8))
        times[rows] = [kernel[1, 1](made).cycles for _ in range(3)][-1]
    more = times[64] - times[16]
    assert 48 * LINE_INTERVAL <= more <= 48 * 8  # the crossbar's port takes several flits a line


def test_a_tile_outside_the_tensor_takes_nothing(device):
    case = programs.matrix(at=(0, 100))
    metrics = run(device, case, programs.load_body(2)).metrics
    assert metrics["sim__bulk_load_sectors.sum"] == 0


@pytest.mark.parametrize("options", [{}, {"at_issue": True}])
@pytest.mark.parametrize("file, same", [("run.lst", True), ("accel-sim", False)])
def test_a_recorded_run_takes_the_same_cycles(tmp_path, options, file, same):
    """A trace for Accel-Sim has the bytes of each copy, as if its rows were adjacent; no waits."""
    case, gpu = programs.matrix(**CASES[1]), lockstep.gpu("H100")
    with lockstep.Device(gpu, timing=True, **options) as device:
        with device.record(tmp_path / file):
            run(device, case, programs.load_body(2))
        live = device.result
    again = lockstep.simulate(tmp_path / file, gpu)
    assert (again.cycles == live.cycles) == (again.hash == live.hash) == same
    for result in (live, again):
        assert result.total["sim__bulk_load_sectors.sum"] == sectors(case)


ROUND = """mbarrier.arrive.expect_tx.shared.b64 %state, [b{k}], 4096;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
    [tile{k}], [%m, {{0, 0}}], [b{k}];"""
WAIT = "W{k}: mbarrier.try_wait.parity.shared.b64 %p, [b{k}], 0; @!%p bra W{k};"


def rounds(order):
    """A kernel of copies (c) and waits (w), in the order in which one thread makes them."""
    text, numbers = "", {"c": 0, "w": 0}
    for what in order:
        text += {"c": ROUND, "w": WAIT}[what].format(k=numbers[what]) + "\n"
        numbers[what] += 1
    own = range(numbers["c"])
    shared = "".join(f".shared .align 128 .b8 tile{k}[4096]; .shared .b64 b{k};\n" for k in own)
    begin = "".join(f"mbarrier.init.shared.b64 [b{k}], 1;\n" for k in own)
    return f"""{programs.HEADER}
.visible .entry k(.param .align 64 .b8 map[128])
{{
.reg .b64 %m, %state; .reg .pred %p;
{shared}mov.b64 %m, map; cvta.param.u64 %m, %m;
{begin}{text}ret;
}}
"""


@pytest.mark.parametrize("options", [{}, {"at_issue": True}])
def test_a_wait_lasts_until_the_bytes_are_there(options):
    case, times = programs.matrix(sizes=(32, 32), box=(32, 32)), {}
    with lockstep.Device("H100", timing=True, **options) as device:
        made = programs.map_of(device, case, device.zeros(case.bytes, np.uint8))
        for order in ("cw", "cwcw", "cwcwcw", "ccww", "cccwww"):
            kernel = device.load_ptx(rounds(order))["k"]
            times[order] = [kernel[1, 1](made).cycles for _ in range(3)][-1]
        latency = device.gpu.l2.latency
    for fewer, more in (("cw", "cwcw"), ("cwcw", "cwcwcw")):
        assert latency < times[more] - times[fewer] < 2 * latency + 32 * 8
    for fewer, more in (("cw", "ccww"), ("ccww", "cccwww")):
        assert 32 * LINE_INTERVAL <= times[more] - times[fewer] < 32 * 8 + 50

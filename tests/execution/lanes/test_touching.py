"""What code notes of the lines that it touches is what follows from each lane's bytes."""

import numpy as np
import pytest

import lockstep
from lockstep.device import Device, Treatment

LINE, SECTOR, LANES = 128, 32, 32
BYTES = 1 << 14
CONSTANT = """
.version 7.0
.target sm_70
.address_size 64
.const .align 32 .b8 table[256];
.visible .entry read()
{
    .reg .b32 %r<2>;
    ld.const.u32 %r1, [table+68];
    ret;
}
"""
ROWS = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry rows(.param .u64 data)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [data];
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %rd2, %r1, 128;
    add.u64 %rd1, %rd1, %rd2;
    ld.global.u32 %r2, [%rd1];
    ret;
}
"""
READ = "ld.global{vector}.b{bits} {values}, [%rd4];"
WRITE = "st.global{vector}.b{bits} [%rd4], {values};"
PTX = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry touch(.param .u64 data, .param .u64 offsets)
{{
    .reg .pred %p<2>;
    .reg .b16 %h<4>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<12>;
    ld.param.u64 %rd1, [data];
    ld.param.u64 %rd2, [offsets];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 8;
    add.u64 %rd3, %rd2, %rd3;
    ld.global.u64 %rd4, [%rd3];
    setp.lt.s64 %p1, %rd4, 0;
    @%p1 bra DONE;
    add.u64 %rd4, %rd1, %rd4;
    {access}
DONE:
    ret;
}}
"""


def _vector(form, width):
    """An access of so many bytes a lane."""
    bits, count = (8 * width, 1) if width <= 8 else (64, 2)
    names = ["%rd8", "%rd9"] if bits == 64 else ["%h1" if bits <= 16 else "%r2"]
    values = names[0] if count == 1 else "{" + ", ".join(names[:count]) + "}"
    return form.format(vector=".v2" if count == 2 else "", bits=bits, values=values)


def _patterns(random, width):
    """Offsets of lanes, -1 = the lane takes no part."""
    lanes = np.arange(LANES)
    yield lanes * width
    yield lanes * width + 5 * width
    yield lanes // 16 * 4096 + lanes % 16 * width
    yield lanes * 0 + 7 * width
    yield lanes[::-1] * width
    yield lanes * 2 * width
    yield np.where(lanes < 9, lanes * width, -1)
    for most in (4, 40, BYTES // width):
        offsets = random.integers(0, most, LANES) * width
        yield np.where(random.random(LANES) < 0.2, -1, offsets)


def _noted(device):
    """Of each line that was noted its masks, in the order of last use."""
    runs = device.memory.touched.runs(device.memory.end, 1 << 20)
    return [
        (first + n, sectors, dirty)
        for first, lines, sectors, dirty in runs.tolist()
        for n in range(lines)
    ]


def _expected(held, address, width, reads, writes):
    """Update masks of whole and of dirty sectors of each line, from the bytes of lanes."""
    touched = {int(a) + k for a in address for k in range(width)}
    for sector in {byte // SECTOR for byte in touched}:
        whole, dirty = held.setdefault(sector // 4, [set(), set()])
        if reads or all(sector * SECTOR + k in touched for k in range(SECTOR)):
            whole.add(sector % 4)
        if writes:
            dirty.add(sector % 4)


def _masks(held):
    return {
        line: tuple(sum(1 << k for k in mask) for mask in masks) for line, masks in held.items()
    }


ACCESSES = {
    "read": (READ, True, False), "write": (WRITE, False, True),
    "update": ("atom.global.add.u{bits} {values}, [%rd4], {values};", True, True),
    "reduce": ("red.global.add.u{bits} [%rd4], {values};", True, True),
    "generic": (READ.replace(".global", ""), True, False),
}  # fmt: skip


@pytest.fixture
def device():
    with Device("QV100", timing=True, choose=lambda launch: Treatment.WARM) as device:
        yield device


@pytest.mark.long
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("access", ACCESSES)
def test_the_sectors_of_each_line_are_those_that_lanes_access(device, access, width):
    form, reads, writes = ACCESSES[access]
    if access in ("update", "reduce") and width not in (4, 8):
        pytest.skip("there is no such operation")
    random = np.random.default_rng(width)
    kernel = device.load_ptx(PTX.format(access=_vector(form, width)))["touch"]
    data, offsets = device.zeros(BYTES, np.uint8), device.zeros(LANES, np.int64)
    for pattern in _patterns(random, width):
        offsets.fill(pattern)
        device.memory.touched.begin()
        kernel[1, LANES](data, offsets)
        held = {}
        _expected(held, offsets.pointer + 8 * np.arange(LANES), 8, True, False)
        _expected(held, data.pointer + pattern[pattern >= 0], width, reads, writes)
        assert {line: tuple(masks) for line, *masks in _noted(device)} == _masks(held)


def test_a_part_of_a_sector_becomes_whole_when_it_is_read_and_stays_whole(device):
    lanes = np.arange(LANES)
    module = {
        name: device.load_ptx(PTX.format(access=_vector(form, 4)))["touch"]
        for name, form in (("read", READ), ("write", WRITE))
    }
    data, offsets = device.zeros(LINE, np.uint8), device.zeros(LANES, np.int64)
    offsets.fill(np.where(lanes < 9, 4 * lanes, -1))
    device.memory.touched.begin()

    def masks(name):
        module[name][1, LANES](data, offsets)
        return next(rest for line, *rest in _noted(device) if line == data.pointer // LINE)

    assert masks("write") == [1, 3], "of the second sector four bytes"
    assert masks("read") == [3, 3]
    assert masks("write") == [3, 3]


def test_lines_are_in_the_order_of_the_accesses_of_warps_that_run_together(device):
    """Two warps, of one CTA or of two: the second access of one is younger than the first ones."""
    second = "add.u64 %rd4, %rd4, 4096; ld.global.u8 %r2, [%rd4];"
    kernel = device.load_ptx(PTX.format(access=_vector(READ, 4) + second))["touch"]
    data, offsets = device.zeros(BYTES, np.uint8), device.zeros(2 * LANES, np.int64)
    offsets.fill(4 * np.arange(2 * LANES))
    device.memory.touched.begin()
    kernel[1, 2 * LANES](data, offsets)
    first = data.pointer // LINE
    order = [line - first for line, *_ in _noted(device) if first <= line < first + BYTES // LINE]
    assert order[:2] == [0, 1] and order[-2:] == [32, 33]


def test_later_ctas_than_the_gpu_holds_are_younger(device):
    kernel = device.load_ptx(ROWS)["rows"]
    ctas = 6000
    data = device.zeros(ctas * LINE, np.uint8)
    device.memory.touched.begin()
    kernel[ctas, LANES](data)
    when = [line - data.pointer // LINE for line, *_ in _noted(device)]
    wave = 32 * device.gpu.sm.count
    assert sorted(when[:wave]) == list(range(wave)), "the first ones begin together"
    assert when[-1] == ctas - 1


def test_constants_are_noted_apart(device):
    module = device.load_ptx(CONSTANT)
    device.memory.touched.begin()
    module["read"][1, LANES]()
    place = module.symbol("table").pointer
    assert device.memory.touched.constants(device.memory.end).tolist() == [place + 64]
    assert not _noted(device)
    device.memory.touched.begin()
    assert len(device.memory.touched.constants(device.memory.end)) == 1, "they stay"


def test_an_access_that_fails_is_not_noted(device):
    kernel = device.load_ptx(PTX.format(access=_vector(READ, 4)))["touch"]
    data, offsets = device.zeros(BYTES, np.uint8), device.zeros(LANES, np.int64)
    offsets.fill(np.where(np.arange(LANES) == 3, 1 << 45, 0))
    device.memory.touched.begin()
    with pytest.raises(lockstep.LaunchError):
        kernel[1, LANES](data, offsets)
    assert {line for line, *_ in _noted(device)} <= {
        (offsets.pointer + k) // LINE for k in range(256)
    } | {data.pointer // LINE}

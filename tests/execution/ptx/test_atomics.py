"""Atomic operations that meet: one lane after the other, in lane order."""

import numpy as np
import pytest

import lockstep

HEADER = ".version 8.6\n.target sm_90\n.address_size 64\n"
THREADS = 96
SUBNORMAL = 1 << 22  # as f32


def kernel(body, registers):
    """%at: the thread's place in ``data``; %own: its 16 bytes of ``operands``, where old values go.

    %shared is as far in shared memory, and %generic its generic address.
    """
    return f"""{HEADER}
.visible .entry k(.param .u64 data, .param .u64 operands, .param .u64 places)
{{
.reg .b64 %base, %at, %own, %shared, %generic, %x; .reg .b32 %i, %w, %n; .reg .pred %p; {registers}
.shared .align 16 .b8 copy[256];
ld.param.u64 %base, [data]; ld.param.u64 %own, [operands]; ld.param.u64 %x, [places];
mov.u32 %i, %tid.x;
mad.wide.u32 %x, %i, 4, %x; ld.global.u32 %w, [%x];
mad.wide.u32 %own, %i, 32, %own; cvt.u64.u32 %at, %w; add.u64 %at, %at, %base;
mov.u64 %shared, copy; cvt.u64.u32 %x, %w; add.u64 %shared, %shared, %x;
cvta.shared.u64 %generic, %shared;
{body}
ret;
}}
"""


def run(device, body, registers, data, operands, places):
    """Contents of ``data`` and ``operands`` afterwards, as bytes."""
    rows = np.zeros((THREADS, 32), np.uint8)
    raw = operands.reshape(THREADS, -1).view(np.uint8)
    rows[:, : raw.shape[1]] = raw
    arrays = [device.array(x) for x in (data, rows, places.astype(np.int32))]
    device.load_ptx(kernel(body, registers))["k"][1, THREADS](*arrays)
    return arrays[0].numpy(), arrays[1].numpy()


REGISTER = {"u32": "b32", "s32": "b32", "b32": "b32", "u64": "b64", "s64": "b64", "b64": "b64"}
DTYPES = {"u32": "u4", "s32": "i4", "b32": "u4", "u64": "u8", "s64": "i8", "b64": "u8"}
OPERATIONS = {
    "add": ("u32 s32 u64", lambda old, x: old + x),
    "min": ("u32 s32 u64 s64", min),
    "max": ("u32 s32 u64 s64", max),
    "and": ("b32 b64", lambda old, x: old & x),
    "or": ("b32 b64", lambda old, x: old | x),
    "xor": ("b32 b64", lambda old, x: old ^ x),
    "exch": ("b32 b64", lambda old, x: x),
    "inc": ("u32", lambda old, x: 0 if old >= x else old + 1),
    "dec": ("u32", lambda old, x: x if old == 0 or old > x else old - 1),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_lanes_follow_each_other(device, operation):
    """Some lanes are off, many meet; atom gives what the lane before left, red changes alike."""
    kinds, combine = OPERATIONS[operation]
    rng = np.random.default_rng(1)
    for kind in kinds.split():
        dtype = np.dtype(DTYPES[kind])
        edges = np.array([0, 1, 5, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
        data = rng.choice(edges, 256 // dtype.itemsize)
        operands = np.concatenate([rng.choice(edges, 64), rng.integers(0, 9, 32).astype(dtype)])
        places = rng.integers(0, 3, THREADS) * dtype.itemsize
        body = f"""ld.global.{REGISTER[kind]} %a, [%own]; setp.ne.u32 %p, %i, 50;
@%p atom.global.{operation}.{kind} %b, [%at], %a; @%p st.global.{REGISTER[kind]} [%own], %b;"""
        if operation != "exch":
            body += f"@%p red.global.{operation}.{kind} [%at+128], %a;"
        got, old = run(device, body, f".reg .{REGISTER[kind]} %a, %b;", data, operands, places)
        expected, before = data.astype(object), []
        modulus = 1 << 8 * dtype.itemsize
        for lane in range(THREADS):
            x, place = int(operands[lane]), places[lane] // dtype.itemsize
            if lane == 50:
                before.append(x)
                continue
            before.append(expected[place])
            for where in (place, place + 128 // dtype.itemsize)[: 1 + (operation != "exch")]:
                value = combine(int(expected[where]), x) % modulus
                expected[where] = int(np.uint64(value).astype(dtype))
        assert list(got) == list(expected), kind
        assert list(np.ascontiguousarray(old[:, : dtype.itemsize]).view(dtype)[:, 0]) == before


@pytest.mark.parametrize("space", ["global", "shared", "generic shared", "generic global"])
def test_f32_sums_flush_in_global_memory_only(device, space):
    place = {"shared": "shared", "generic shared": "generic"}.get(space, "at")
    name = "add" if "generic" in space else f"{space}.add"
    body = f"""mov.b32 %f, {SUBNORMAL}; st.shared.b32 [%shared], %f; bar.sync 0;
ld.global.f32 %f, [%own]; atom.{name}.f32 %g, [%{place}], %f;
ld.shared.f32 %f, [%shared]; ld.global.f32 %h, [%at]; st.global.f32 [%own], %f;
st.global.f32 [%own+4], %h;"""
    data = np.full(64, SUBNORMAL, np.uint32)
    operands = np.full(THREADS, SUBNORMAL // 2, np.uint32)
    places = np.zeros(THREADS)
    _, rows = run(device, body, ".reg .f32 %f, %g, %h;", data, operands, places)
    column = 0 if "shared" in space else 4
    last = rows[THREADS - 1, column : column + 4].view(np.uint32)[0]
    if "shared" in space:
        total = SUBNORMAL + THREADS * (SUBNORMAL // 2)
        assert last == np.float32(total * 2.0**-149).view(np.uint32)
    else:
        assert last == 0


def test_compare_and_swap_lets_one_lane_win(device):
    body = """add.u32 %n, %i, 1; atom.global.cas.b32 %w, [%at], 0, %n; st.global.b32 [%own], %w;
atom.global.cas.b32 %w, [%at+64], 77, %n; st.global.b32 [%own+4], %w;"""
    data = np.zeros(64, np.int32)
    got, rows = run(device, body, "", data, np.zeros(THREADS, np.int32), np.zeros(THREADS))
    assert got[0] == 1
    assert got[16] == 0
    olds = rows[:, :8].copy().view(np.int32)
    assert list(olds[:, 0]) == [0] + [1] * (THREADS - 1)
    assert not olds[:, 1].any()


def test_128_bits_are_exchanged_whole(device):
    body = """ld.global.b128 %q, [%own]; atom.global.exch.b128 %r, [%at], %q;
ld.global.b128 %s, [%at]; atom.global.cas.b128 %s, [%at], %s, %r; st.global.b128 [%own], %s;"""
    rng = np.random.default_rng(2)
    data = rng.integers(0, 1 << 63, 32)
    operands = rng.integers(0, 1 << 63, (THREADS, 2))
    places = np.full(THREADS, 16)
    places[:3] = 0
    got, rows = run(device, body, ".reg .b128 %q, %r, %s;", data, operands, places)
    # lane 0 of the first warp: lanes exchange in order, then only the last one's value compares
    assert np.array_equal(np.ascontiguousarray(rows[0, :16]).view(np.int64), operands[2])
    assert np.array_equal(got[:2], data[:2])


def halves(values, kind):
    """Numbers as the bits of f16 or bf16, which hold them exactly."""
    if kind == "f16":
        return np.asarray(values, np.float16).view(np.uint16)
    return (np.asarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("operation", ["add", "min", "max"])
@pytest.mark.parametrize("shape", ["v2", "v4", "v8", "v2x2"])
def test_vectors_of_halves(device, kind, operation, shape):
    count = int(shape[1]) * (2 if shape.endswith("x2") else 1)
    name = f"{kind}x2" if shape.endswith("x2") else kind
    registers = int(shape[1])
    width = "b32" if shape.endswith("x2") else "b16"
    numbers = [0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 64.0]
    new = np.array((numbers[2:] + numbers[:2])[:count] * THREADS)
    data = halves(np.array(numbers[:count]), kind)
    padded = np.zeros(128, np.uint16)
    padded[:count] = data
    operands = halves(new, kind).reshape(THREADS, count)
    values = ", ".join(f"%v{k}" for k in range(registers))
    olds = ", ".join(f"%o{k}" for k in range(registers))
    size = 16 * count // 8 // registers
    loads = " ".join(f"ld.global.{width} %v{k}, [%own+{k * size}];" for k in range(registers))
    stores = " ".join(f"st.global.{width} [%own+{k * size}], %o{k};" for k in range(registers))
    body = f"""{loads} setp.eq.u32 %p, %i, 0;
@%p atom.global.{operation}.noftz.{shape[:2]}.{name} {{{olds}}}, [%at], {{{values}}}; {stores}"""
    names = f".reg .{width} %v<{registers}>, %o<{registers}>;"
    got, rows = run(device, body, names, padded, operands, np.zeros(THREADS))
    before, x = (np.array(v, np.float64) for v in (numbers[:count], new[:count]))
    with np.errstate(invalid="ignore"):
        chosen = {"add": np.add, "min": np.fmin, "max": np.fmax}[operation](before, x)
    if operation != "add":  # zeros are ordered by their sign
        zeros = (before == 0) & (x == 0)
        either = np.signbit(before) | np.signbit(x)
        both = np.signbit(before) & np.signbit(x)
        negative = either if operation == "min" else both
        chosen = np.where(zeros, np.where(negative, -0.0, 0.0), chosen)
    expected = np.where(np.isnan(chosen), 0x7FFF, halves(chosen, kind))
    assert np.array_equal(got[:count], expected)
    assert np.array_equal(rows[0, : 2 * count].copy().view(np.uint16), data)


def test_an_operation_is_in_an_allocation_and_aligned(device):
    for offset, message in ((1 << 30, "invalid global"), (2, "misaligned")):
        body = f"atom.global.add.u32 %w, [%at+{offset}], 1;"
        with pytest.raises(lockstep.LockstepError, match=message):
            none = np.zeros(THREADS, np.int32)
            run(device, body, "", np.zeros(64, np.int32), none, none)

"""wmma against NumPy: every shape, type and layout, through memory with a stride."""

import itertools

import numpy as np
import pytest

from lockstep import LaunchError

HEADER = ".version 8.6\n.target sm_90\n.address_size 64\n"
SHAPES = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
ORDERS = ("row", "col")
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}
BITS |= {"f32": 32, "s32": 32}
REGISTERS = {  # of the fragments a and b, by type and shape, from PTX ISA 9.7.15.3
    "f16": {s: (8, 8) for s in SHAPES},
    "bf16": {(16, 16, 16): (4, 4), (32, 8, 16): (8, 2), (8, 32, 16): (2, 8)},
    "s8": {(16, 16, 16): (2, 2), (32, 8, 16): (4, 1), (8, 32, 16): (1, 4)},
    "tf32": {(16, 16, 8): (4, 4)},
    "f64": {(8, 8, 4): (1, 1)},
    "s4": {(8, 8, 32): (1, 1)},
    "b1": {(8, 8, 128): (1, 1)},
}
REGISTERS |= {"u8": REGISTERS["s8"], "u4": REGISTERS["s4"]}
PADDING = 32  # elements more than a line needs


def products():
    """Shape, types of a and b, c and d, orders of a, b, c and d."""
    orders = list(itertools.product(ORDERS, repeat=4))
    for shape in SHAPES:
        for c, d in (("f16", "f16"), ("f32", "f32"), ("f16", "f32"), ("f32", "f16")):
            yield from ((shape, "f16", c, d, order) for order in orders[::5])
        for kind, total in (("bf16", "f32"), ("s8", "s32"), ("u8", "s32")):
            yield from ((shape, kind, total, total, order) for order in orders[::5])
    for shape, kind, total in (((16, 16, 8), "tf32", "f32"), ((8, 8, 4), "f64", "f64")):
        yield from ((shape, kind, total, total, order) for order in orders[::3])
    for shape, kind in (((8, 8, 32), "s4"), ((8, 8, 32), "u4"), ((8, 8, 128), "b1")):
        for end in itertools.product(ORDERS, repeat=2):
            yield shape, kind, "s32", "s32", ("row", "col", *end)


def vector(name, count):
    return "{" + ", ".join(f"%{name}{k}" for k in range(count)) + "}"


def scope(number, shape, kind, c, d, orders, suffix=""):
    """One product in a scope of its own."""
    m, n, k = shape
    shape_name = f"m{m}n{n}k{k}"
    a_order, b_order, _, d_order = orders
    counts = [*REGISTERS[kind][shape], *(m * n * min(BITS[t], 32) // 1024 for t in (c, d))]
    types = (kind, kind, c, d)
    registers = "\n".join(
        f".reg .{'f64' if t == 'f64' else 'b32'} %{r}<{count}>;"
        for r, count, t in zip("abcd", counts, types)
    )
    strides = [strides_of(shape, "abcd"[i], orders[i]) for i in range(4)]
    if kind == "b1":
        operation = f"{suffix}.popc.sync.aligned.row.col.{shape_name}.s32.b1.b1.s32"
    elif kind == "f16":
        operation = f"sync.aligned.{a_order}.{b_order}.{shape_name}.{d}.{c}"
    else:
        operation = f"sync.aligned.{a_order}.{b_order}.{shape_name}.{d}.{kind}.{kind}.{c}{suffix}"
    pointers = " ".join(f"ld.param.u64 %p{i}, [p{number}_{i}];" for i in range(4))
    loads = "\n".join(
        f"wmma.load.{r}.sync.aligned.{order}.{shape_name}.global.{t} {vector(r, count)},"
        f" [%p{i}], {stride};"
        for i, (r, order, t, count, stride) in enumerate(zip("abc", orders, types, counts, strides))
    )
    return f"""
{{
{registers}
{pointers}
{loads}
wmma.mma.{operation} {vector("d", counts[3])}, {vector("a", counts[0])},
    {vector("b", counts[1])}, {vector("c", counts[2])};
wmma.store.d.sync.aligned.{d_order}.{shape_name}.global.{d} [%p3], {vector("d", counts[3])},
    {strides[3]};
}}
"""


def kernel(cases, suffix=""):
    """A module whose kernel ``k`` computes the products one after the other."""
    parameters = ", ".join(f".param .u64 p{i}_{j}" for i in range(len(cases)) for j in range(4))
    scopes = "".join(scope(i, *case, suffix) for i, case in enumerate(cases))
    return f"{HEADER}.visible .entry k({parameters})\n{{\n.reg .b64 %p<4>;{scopes}ret;\n}}\n"


def sizes_of(shape, which):
    m, n, k = shape
    return {"a": (m, k), "b": (k, n)}.get(which, (m, n))


def strides_of(shape, which, order):
    rows, columns = sizes_of(shape, which)
    return (columns if order == "row" else rows) + (0 if shape[2] > 16 else PADDING)


def encode(values, kind):
    """Numbers as the bytes of a line."""
    if kind == "bf16":
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16
        return bits.astype(np.uint16).view(np.uint8)
    if kind == "b1":
        return np.packbits(values.astype(np.uint8), axis=-1, bitorder="little")
    if kind in ("s4", "u4"):
        nibbles = values.astype(np.int64) & 15
        return (nibbles[..., ::2] | nibbles[..., 1::2] << 4).astype(np.uint8)
    dtype = {"tf32": "f4", "s8": "i1", "u8": "u1", "s32": "i4"}.get(kind) or kind[0] + str(
        BITS[kind] // 8
    )
    return np.ascontiguousarray(values.astype(dtype)).view(np.uint8)


def in_memory(matrix, order, kind, stride):
    lines = encode(matrix if order == "row" else matrix.T, kind)
    padded = np.zeros((len(lines), stride * BITS[kind] // 8), np.uint8)
    padded[:, : lines.shape[1]] = lines
    return padded


def from_memory(raw, shape, order, kind, stride):
    dtype = {"s32": "i4"}.get(kind) or kind[0] + str(BITS[kind] // 8)
    rows, columns = shape if order == "row" else shape[::-1]
    lines = raw.view(dtype).reshape(-1, stride)[:rows, :columns]
    return lines if order == "row" else lines.T


def numbers(rng, kind, shape):
    """Numbers that all types here hold exactly, and whose products and sums f32 does."""
    ranges = {"s8": (-128, 128), "u8": (0, 256), "s4": (-8, 8), "u4": (0, 16), "b1": (0, 2)}
    low, high = ranges.get(kind, (-7, 8))
    whole = rng.integers(low, high, shape)
    return whole / 4 if kind in ("f16", "bf16", "tf32", "f32", "f64") else whole


def run(device, rng, cases, suffix="", start_range=(-7, 8)):
    """Factors, accumulator and result of each case."""
    everything, pointers = [], []
    for shape, kind, c, d, orders in cases:
        operands = [numbers(rng, kind, sizes_of(shape, which)) for which in "ab"]
        operands.append(rng.integers(*start_range, sizes_of(shape, "c")))
        strides = [strides_of(shape, "abcd"[i], orders[i]) for i in range(4)]
        for x, order, t, stride in zip(operands, orders, (kind, kind, c), strides):
            pointers.append(device.array(in_memory(x, order, t, stride)))
        rows, columns = sizes_of(shape, "d")
        lines = rows if orders[3] == "row" else columns
        pointers.append(device.array(np.zeros(lines * strides[3] * BITS[d] // 8, np.uint8)))
        everything.append(operands)
    device.load_ptx(kernel(cases, suffix))["k"][1, 32](*pointers)
    for (shape, _, _, d, orders), operands, target in zip(cases, everything, pointers[3::4]):
        stride = strides_of(shape, "d", orders[3])
        result = from_memory(target.numpy(), sizes_of(shape, "d"), orders[3], d, stride)
        yield (*operands, result)


@pytest.mark.long
@pytest.mark.parametrize("kind", REGISTERS)
def test_products_are_those_of_numpy(device, kind):
    cases = [case for case in products() if case[1] == kind]
    results = run(device, np.random.default_rng(1), cases, "xor" if kind == "b1" else "")
    for case, (a, b, c, d) in zip(cases, results):
        product = (a[:, :, None] != b[None]).sum(1) if kind == "b1" else a @ b
        assert np.array_equal(d, product + c), case


@pytest.mark.parametrize("suffix", ["", ".satfinite"])
def test_saturation_clamps_and_the_default_wraps(device, suffix):
    case = ((16, 16, 16), "s8", "s32", "s32", ("row", "col", "row", "row"))
    limits = (2**31 - 2000, 2**31 - 1)
    ((a, b, c, d),) = run(device, np.random.default_rng(2), [case], suffix, limits)
    exact = a.astype(np.int64) @ b + c
    assert (exact > 2**31 - 1).any()
    expected = np.clip(exact, None, 2**31 - 1) if suffix else exact.astype(np.int32)
    assert np.array_equal(d, expected)


def test_and_counts_common_ones(device):
    case = ((8, 8, 128), "b1", "s32", "s32", ("row", "col", "row", "row"))
    ((a, b, c, d),) = run(device, np.random.default_rng(3), [case], "and")
    assert np.array_equal(d, a @ b + c)


def test_lines_must_lie_in_an_allocation(device):
    case = ((16, 16, 16), "f16", "f32", "f32", ("row",) * 4)
    module = device.load_ptx(kernel([case]))
    good = device.array(np.zeros(16 * 48, np.float32))
    short = device.array(np.zeros(15 * 48 + 15, np.float16))
    with pytest.raises(LaunchError, match="invalid global read"):
        module["k"][1, 32](good, short, good, good)

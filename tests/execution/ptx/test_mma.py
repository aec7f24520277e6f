"""Sums of mma as documented: products exact, added in ascending k, each sum rounded."""

import itertools

import numpy as np
import pytest

from ptx_twin import arithmetic
from ptx_twin.numbers import decode, encode

HEADER = ".version 8.7\n.target sm_120\n.address_size 64\n"
BYTES = {"f16": 2, "bf16": 2, "tf32": 4, "f64": 8, "e4m3": 1, "e5m2": 1, "f32": 4}


def count(elements, kind):
    """Registers of a fragment of so many elements a lane."""
    return elements if kind == "f64" else elements * BYTES[kind] // 4


def kernel(shape, kinds, options=""):
    """Fragments lie in memory lane after lane, 64 bytes each; the result replaces that of c."""
    d, a, b, c = kinds
    m, n, k = shape
    parts = {"a": (m * k // 32, a), "b": (n * k // 32, b), "c": (m * n // 32, c)}
    parts["d"] = (m * n // 32, d)
    width = "b64" if a == "f64" else "b32"
    declarations, loads, vectors = "", "", {}
    for i, (name, (elements, kind)) in enumerate(parts.items()):
        registers = count(elements, kind)
        declarations += f".reg .{'f64' if kind == 'f64' else 'b32'} %{name}<{registers}>; "
        vectors[name] = "{" + ", ".join(f"%{name}{r}" for r in range(registers)) + "}"
        size = 8 if kind == "f64" else 4
        for r in range(registers if name != "d" else 0):
            loads += f"ld.global.{width} %{name}{r}, [%in+{64 * 32 * i + size * r}]; "
    size = 8 if d == "f64" else 4
    stores = " ".join(
        f"st.global.{width} [%out+{size * r}], %d{r};" for r in range(count(m * n // 32, d))
    )
    name = f"mma.sync.aligned.m{m}n{n}k{k}.row.col{options}.{d}.{a}.{b}.{c}"
    return f"""{HEADER}
.visible .entry k(.param .u64 source, .param .u64 target)
{{
.reg .b64 %in, %out; .reg .b32 %i; {declarations}
ld.param.u64 %in, [source]; ld.param.u64 %out, [target]; mov.u32 %i, %tid.x;
mad.wide.u32 %in, %i, 64, %in; mad.wide.u32 %out, %i, 64, %out;
{loads}
{name} {vectors["d"]}, {vectors["a"]}, {vectors["b"]}, {vectors["c"]};
{stores}
ret;
}}
"""


def per(kind):
    return max(4 // BYTES[kind], 1)


def coordinates(which, shape, kind):
    """For lane and element of a fragment the row and column (PTX ISA, figures of mma fragments)."""
    m, n, k = shape
    elements = {"a": m * k, "b": n * k}.get(which, m * n) // 32
    table = np.zeros((32, elements, 2), int)
    for lane, e in itertools.product(range(32), range(elements)):
        register, part = divmod(e, per(kind))
        group, thread = divmod(lane, 4)
        if which == "a":
            along = (thread + 4 * (register // (m // 8))) * per(kind) + part
            table[lane, e] = group + 8 * (register % (m // 8)), along
        elif which == "b":
            table[lane, e] = (thread + 4 * register) * per(kind) + part, group
        else:
            table[lane, e] = group + 8 * (e // 2), thread * 2 + e % 2
    return table


def patterns(rng, kind, shape):
    """Bits of numbers of ordinary size."""
    bits = np.array([encode(decode_float(x), kind) for x in rng.uniform(-2, 2, shape).ravel()])
    return bits.reshape(shape)


def decode_float(x):
    return decode(int(np.float64(x).view(np.uint64)), "f64")


def fragment(matrix, which, shape, kind):
    """The bytes of all lanes, 64 each."""
    places = coordinates(which, shape, kind)
    values = matrix[places[..., 0], places[..., 1]].astype(f"u{BYTES[kind]}")
    rows = np.zeros((32, 64), np.uint8)
    rows[:, : values.shape[1] * BYTES[kind]] = values.view(np.uint8)
    return rows


def expected(a, b, c, shape, kinds):
    d_kind, a_kind, b_kind, c_kind = kinds
    total = "f64" if d_kind == "f64" else "f32"
    result = np.zeros(c.shape, object)
    for i, j in itertools.product(*map(range, c.shape)):
        value = decode(int(c[i, j]), c_kind)
        for k in range(shape[2]):
            x, y = decode(int(a[i, k]), a_kind), decode(int(b[k, j]), b_kind)
            value = decode(encode(arithmetic.fused(x, y, value), total), total)
        result[i, j] = encode(value, d_kind)
    return result


CASES = [
    ((16, 8, 8), ("f32", "f16", "f16", "f32"), ""),
    ((16, 8, 16), ("f16", "f16", "f16", "f16"), ""),
    ((16, 8, 16), ("f32", "bf16", "bf16", "f32"), ""),
    ((16, 8, 8), ("f32", "tf32", "tf32", "f32"), ""),
    ((16, 8, 32), ("f32", "e4m3", "e5m2", "f32"), ""),
    ((16, 8, 32), ("f16", "e5m2", "e4m3", "f16"), ""),
    ((16, 8, 16), ("f32", "e4m3", "e4m3", "f32"), ""),
    ((8, 8, 4), ("f64",) * 4, ".rn"),
    ((16, 8, 4), ("f64",) * 4, ""),
]


@pytest.mark.long
@pytest.mark.parametrize("shape, kinds, options", CASES)
def test_sums_are_rounded_in_ascending_order(device, shape, kinds, options):
    rng = np.random.default_rng(1)
    m, n, k = shape
    sizes = {"a": (m, k), "b": (k, n), "c": (m, n)}
    matrices = {w: patterns(rng, kind, sizes[w]) for w, kind in zip("abc", kinds[1:])}
    source = [fragment(matrices[w], w, shape, kind) for w, kind in zip("abc", kinds[1:])]
    target = device.array(np.zeros((32, 64), np.uint8))
    module = device.load_ptx(kernel(shape, kinds, options))
    module["k"][1, 32](device.array(np.stack(source)), target)
    want = expected(*matrices.values(), shape, kinds)
    got = target.numpy()
    assert np.array_equal(got, fragment(want, "c", shape, kinds[0]))


@pytest.mark.parametrize("total", ["f16", "f32"])
def test_a_nan_is_the_canonical_one(device, total):
    shape, kinds = (16, 8, 16), (total, "f16", "f16", total)
    a = np.full((16, 16), 0x7C01)  # a signalling NaN
    zeros = np.zeros((16, 8), int)
    source = [fragment(a, "a", shape, "f16"), fragment(zeros, "b", shape, "f16")]
    source.append(fragment(zeros, "c", shape, total))
    target = device.array(np.zeros((32, 64), np.uint8))
    device.load_ptx(kernel(shape, kinds))["k"][1, 32](device.array(np.stack(source)), target)
    nan = np.full((16, 8), 0x7FFF if total == "f16" else 0x7FFFFFFF)
    assert np.array_equal(target.numpy(), fragment(nan, "c", shape, total))

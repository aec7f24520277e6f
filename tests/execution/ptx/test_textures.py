"""Texture instructions against a naive sampler, one thread at a time in double precision."""

import itertools
import math

import numpy as np
import pytest

import lockstep
from lockstep import WorkloadError

HEADER = ".version 8.6\n.target sm_90\n.address_size 64\n"
MODES = ("wrap", "clamp", "mirror", "border")
THREADS = 64


def module_text(geometry, results="v4", kind="f32", coordinate="f32", form="tex", tail=""):
    """A kernel that reads one texture element a thread; coordinates are four words a thread."""
    count = {"1d": 1, "2d": 2, "3d": 4, "a1d": 2, "a2d": 4}[geometry]  # of three, four are named
    width = int(results[1])
    names = ", ".join(f"%c{i}" for i in range(count))
    targets = ", ".join(f"%r{i}" for i in range(width))
    loads = "\n".join(f"ld.global.b32 %c{i}, [%in+{4 * i}];" for i in range(4))
    stores = "\n".join(f"st.global.b32 [%out+{4 * i}], %r{i};" for i in range(width))
    return f"""{HEADER}
.visible .entry k(.param .u64 texture, .param .u64 source, .param .u64 target)
{{
.reg .b64 %t, %in, %out; .reg .b32 %c<4>, %r<4>, %i;
ld.param.u64 %t, [texture]; ld.param.u64 %in, [source]; ld.param.u64 %out, [target];
mov.u32 %i, %tid.x;
mad.wide.u32 %in, %i, 16, %in; mad.wide.u32 %out, %i, 16, %out;
{loads}
{form}.{geometry}.{results}.{kind}.{coordinate} {{{targets}}}, [%t, {{{names}}}]{tail};
{stores}
ret;
}}
"""


def run(device, text, texture, coordinates, dtype=np.float32):
    words = np.zeros((THREADS, 4), coordinates.dtype)
    words[:, : coordinates.shape[1]] = coordinates
    target = device.array(np.zeros((THREADS, 4), dtype))
    device.load_ptx(text)["k"][1, THREADS](texture, device.array(words), target)
    return target.numpy()


# The naive sampler


def index_of(i, size, mode):
    """The element that an index means, None for the border."""
    if mode == "border":
        return i if 0 <= i < size else None
    if mode == "wrap":
        return i % size
    if mode == "mirror":
        return min(i % (2 * size), 2 * size - 1 - i % (2 * size))
    return min(max(i, 0), size - 1)


def element(image, indices, modes, border=(0, 0, 0, 0)):
    """``indices`` are x, y, z."""
    found = [
        index_of(i, size, mode) for i, size, mode in zip(indices, image.shape[::-1][1:], modes)
    ]
    if None in found:
        return np.array(border)
    have = image[tuple(found[::-1])]
    return np.concatenate([have, [0, 0, 0, 1][len(have) :]])


def scaled(image, coordinates, normalized):
    sizes = image.shape[::-1][1:]
    return [np.float32(c) * np.float32(s) if normalized else c for c, s in zip(coordinates, sizes)]


def naive(image, coordinates, modes, normalized, linear, border=(0, 0, 0, 0)):
    if not normalized:
        modes = ["clamp" if m in ("wrap", "mirror") else m for m in modes]
    where = scaled(image, [float(c) for c in coordinates], normalized)
    if not linear:
        return element(image, [math.floor(w) for w in where], modes, border)
    lows = [math.floor(w - 0.5) for w in where]
    weights = [math.floor((w - 0.5 - low) * 256 + 0.5) / 256 for w, low in zip(where, lows)]
    total = np.zeros(4)
    for corner in itertools.product((0, 1), repeat=len(where)):
        weight = math.prod(a if c else 1 - a for a, c in zip(weights, corner))
        at = [low + c for low, c in zip(lows, corner)]
        total += weight * element(image, at, modes, border)
    return total


def random_coordinates(rng, sizes, normalized):
    """Multiples of 1/64 element, also far outside, so that no rounding decides."""
    extent = np.array(sizes)
    steps = rng.integers(-2 * 64, 3 * 64, (THREADS, len(sizes))) / 64 * extent
    steps = np.round(steps * 64) / 64
    return (steps / extent if normalized else steps).astype(np.float32)


CASES = [
    *itertools.product(["1d"], [(16,)], MODES, (False, True), (False, True)),
    *itertools.product(["2d"], [(8, 16)], MODES, (False, True), (False, True)),
    *itertools.product(["3d"], [(4, 8, 16)], ("wrap", "border"), (True,), (False, True)),
]


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("geometry", ["1d", "2d", "3d"])
def test_samples_are_those_of_the_naive_sampler(device, geometry, channels):
    rng = np.random.default_rng(5)
    text = module_text(geometry)
    for _, shape, mode, normalized, linear in (c for c in CASES if c[0] == geometry):
        image = rng.random((*shape, channels)).astype(np.float32)
        texture = device.texture(
            image if channels > 1 else image[..., 0],
            "linear" if linear else "point",
            mode,
            normalized,
            channels=channels,
        )
        at = random_coordinates(rng, shape[::-1], normalized)
        got = run(device, text, texture, at)
        modes = [mode] * 3
        expected = [naive(image, row, modes, normalized, linear) for row in at]
        assert np.allclose(got, expected, rtol=1e-5, atol=1e-6), (mode, normalized, linear)


@pytest.mark.parametrize("linear", [False, True])
def test_what_lies_outside_has_the_colour_of_the_border(device, linear):
    rng = np.random.default_rng(7)
    image = rng.random((8, 16, 2)).astype(np.float32)
    colour = np.array([0.25, 3.5, -1, 7], np.float32)
    texture = device.texture(
        image,
        "linear" if linear else "point",
        "border",
        channels=2,
        border=tuple(colour.view(np.uint32)),
    )
    at = random_coordinates(rng, (16, 8), False)
    got = run(device, module_text("2d"), texture, at)
    expected = [naive(image, row, ["border"] * 3, False, linear, colour) for row in at]
    assert np.allclose(got, expected, rtol=1e-5, atol=1e-6)
    assert (got == colour).all(1).any()


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "f2", "f4"])
def test_every_number_is_read_as_it_is(device, dtype):
    rng = np.random.default_rng(6)
    dtype = np.dtype(dtype)
    image = rng.integers(0, 256, (8, 16, 2 * dtype.itemsize), np.uint8).view(dtype)
    if dtype.kind == "f":
        image = np.nan_to_num(image).astype(dtype)
    at = rng.integers(0, (16, 8), (THREADS, 2)).astype(np.int32)
    kind = {"f": "f32"}.get(dtype.kind) or ("s32" if dtype.kind == "i" else "u32")
    texture = device.texture(image, channels=2)
    results = np.dtype({"f32": "f4", "s32": "i4", "u32": "u4"}[kind])
    got = run(device, module_text("2d", kind=kind, coordinate="s32"), texture, at, results)
    assert np.array_equal(got[:, :2], image[at[:, 1], at[:, 0]].astype(results))
    assert np.array_equal(got[:, 2:], np.broadcast_to([0, 1], (THREADS, 2)))


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2"])
def test_integers_as_normalized_values(device, dtype):
    limits = np.iinfo(dtype)
    values = np.array([limits.min, limits.min + 1, 0, 1, limits.max // 3, limits.max], dtype)
    texture = device.texture(values, normalized_values=True)
    at = np.arange(THREADS, dtype=np.float32)[:, None]
    got = run(device, module_text("1d"), texture, at)
    expected = np.maximum(values / np.float32(limits.max), -1).astype(np.float32)
    assert np.array_equal(got[:6, 0], expected)
    assert (got[6:, 0] == 1).all()
    assert (got[:, 3] == 1).all()


def test_layers_are_clamped(device):
    layers = np.arange(3 * 8 * 8, dtype=np.float32).reshape(3, 8, 8)
    texture = device.texture(layers, layered=True)
    at = np.zeros((THREADS, 3), np.uint32)
    at[:, 0] = np.arange(THREADS) % 5
    xy = np.arange(THREADS) % 8 + np.float32(0.5)
    at[:, 1] = at[:, 2] = xy.astype(np.float32).view(np.uint32)
    got = run(device, module_text("a2d"), texture, at)
    k = np.arange(THREADS) % 8
    assert np.array_equal(got[:, 0], layers[np.minimum(at[:, 0], 2), k, k])


def test_pairs_of_halves(device):
    image = np.random.default_rng(7).random((16, 4)).astype(np.float32)
    texture = device.texture(image, channels=4)
    at = (np.arange(THREADS, dtype=np.float32) % 16)[:, None]
    got = run(device, module_text("1d", "v2", "f16x2"), texture, at, np.uint32)
    halves = np.ascontiguousarray(got[:, :2]).view(np.float16)
    assert np.array_equal(halves, image[np.arange(THREADS) % 16].astype(np.float16))


def test_gather_goes_counterclockwise(device):
    image = np.arange(128, dtype=np.float32).reshape(8, 16)
    texture = device.texture(image)
    at = np.array([[k % 14 + 1, k % 6 + 1] for k in range(THREADS)], np.float32)
    text = module_text("2d", form="tld4.r")
    got = run(device, text, texture, at)
    x, y = at.astype(int).T
    expected = [image[y, x - 1], image[y, x], image[y - 1, x], image[y - 1, x - 1]]
    assert np.array_equal(got, np.stack(expected, 1))


def test_levels_and_gradients_read_the_only_level(device):
    image = np.random.default_rng(8).random((8, 16)).astype(np.float32)
    texture = device.texture(image, "linear")
    at = random_coordinates(np.random.default_rng(9), (16, 8), False)
    plain = run(device, module_text("2d"), texture, at)
    for form, tail in (("tex.level", ", %c0"), ("tex.grad", ", {%c0, %c1}, {%c2, %c3}")):
        text = module_text("2d", form=form, tail=tail)
        assert np.array_equal(run(device, text, texture, at), plain)


def test_integer_coordinates_outside_one_dimension_give_zero(device):
    texture = device.texture(np.arange(1, 9, dtype=np.float32))
    at = (np.arange(THREADS, dtype=np.int32) - 8)[:, None]
    got = run(device, module_text("1d", coordinate="s32"), texture, at)[:, 0]
    expected = np.where((at[:, 0] >= 0) & (at[:, 0] < 8), at[:, 0] + 1, 0)
    assert np.array_equal(got, expected)


def test_lanes_may_use_different_textures(device):
    textures = [device.texture(np.full(8, k, np.float32)) for k in range(4)]
    table = device.array(np.array([t.handle for t in textures], np.int64))
    text = module_text("1d").replace(
        "mov.u32 %i, %tid.x;",
        "mov.u32 %i, %tid.x; and.b32 %c0, %i, 3; mad.wide.u32 %t, %c0, 8, %t;"
        " ld.global.u64 %t, [%t];",
    )
    got = run(device, text, table, np.zeros((THREADS, 1), np.float32))
    assert np.array_equal(got[:, 0], np.arange(THREADS) % 4)


def test_queries(device):
    texture = device.texture(np.zeros((4, 8, 16), np.float32), normalized=True)
    fields = {"width": 16, "height": 8, "depth": 4, "normalized_coords": 1}
    reads = "".join(
        f"txq.{name}.b32 %r, [%t]; st.global.b32 [%out+{4 * k}], %r;"
        for k, name in enumerate(fields)
    )
    text = f"""{HEADER}.visible .entry k(.param .u64 t, .param .u64 out)
{{ .reg .b64 %t, %out; .reg .b32 %r; ld.param.u64 %t, [t]; ld.param.u64 %out, [out];
{reads} ret; }}"""
    target = device.array(np.zeros(4, np.int32))
    device.load_ptx(text)["k"][1, 1](texture, target)
    assert list(target.numpy()) == list(fields.values())


REFERENCES = f"""{HEADER}.global .texref image; .global .f32 other;
.visible .entry k(.param .u64 out, .param .texref passed)
{{ .reg .b64 %out; .reg .f32 %f<4>; ld.param.u64 %out, [out]; mov.f32 %f0, 0f40200000;
tex.1d.v4.f32.f32 {{%f0, %f1, %f2, %f3}}, [image, {{%f0}}]; st.global.f32 [%out], %f0;
mov.f32 %f0, 0f40200000;
tex.1d.v4.f32.f32 {{%f0, %f1, %f2, %f3}}, [passed, {{%f0}}]; st.global.f32 [%out+4], %f0; ret; }}"""


def test_references_hold_what_is_bound_or_passed(device):
    module = device.load_ptx(REFERENCES)
    target = device.array(np.zeros(2, np.float32))
    one, other = (device.texture(np.arange(8, dtype=np.float32) + k) for k in (0, 100))
    with pytest.raises(lockstep.LockstepError, match="0x0"):
        module["k"][1, 1](target, other)
    module.bind("image", one)
    module["k"][1, 1](target, other)
    assert list(target.numpy()) == [2, 102]
    module.bind("image", other)
    module["k"][1, 1](target, one)
    assert list(target.numpy()) == [102, 2]
    for name in ("other", "nothing"):
        with pytest.raises(WorkloadError, match=f"no texture or surface reference {name}"):
            module.bind(name, one)
    with pytest.raises(WorkloadError, match="bind a texture"):
        module.symbol("image")


def test_a_pointer_is_no_texture(device):
    array = device.array(np.zeros(64, np.float32))
    with pytest.raises(lockstep.LockstepError, match="no texture or surface"):
        run(device, module_text("1d"), array, np.zeros((THREADS, 1), np.float32))


@pytest.mark.parametrize(
    "values, options, message",
    [
        (np.zeros(4, np.float64), {}, "cannot hold float64"),
        (np.zeros((4, 3), np.float32), {"channels": 3}, "channels"),
        (np.zeros((4, 3), np.float32), {"channels": 4}, "channels"),
        (np.zeros((2, 2, 2, 2), np.float32), {}, "shape"),
        (np.zeros(4, np.float32), {"filter": "cubic"}, "filter 'cubic'"),
        (np.zeros(4, np.float32), {"address": "repeat"}, "address mode 'repeat'"),
        (np.zeros(4, np.uint8), {"filter": "linear"}, "linear filter"),
        (np.zeros(4, np.uint32), {"normalized_values": True}, "normalized values"),
    ],
)
def test_what_no_texture_can_be_is_refused(device, values, options, message):
    with pytest.raises(WorkloadError, match=message):
        device.texture(values, **options)

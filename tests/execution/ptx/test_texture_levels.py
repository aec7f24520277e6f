"""Levels of detail, cubes, samplers apart, offsets and queries, against a naive sampler."""

import math

import numpy as np
import pytest

import lockstep
from lockstep import WorkloadError
from ptx_twin.texture_programs import RESULTS, THREADS, module_text, run

SIZE = 16


def wrapped(image, x, y):
    return image[y % image.shape[0], x % image.shape[1]]


def bilinear(image, u, v, pick=wrapped):
    """Linear filter at elements u, v, weights in 1/256."""
    low = [math.floor(c - 0.5) for c in (u, v)]
    a, b = (math.floor((c - 0.5 - n) * 256 + 0.5) / 256 for c, n in zip((u, v), low))
    corners = [pick(image, low[0] + i, low[1] + j) for j in (0, 1) for i in (0, 1)]
    weights = [(1 - a) * (1 - b), a * (1 - b), (1 - a) * b, a * b]
    return sum(w * float(c) for w, c in zip(weights, corners))


@pytest.fixture(scope="module")
def levels():
    rng = np.random.default_rng(1)
    return [rng.random((SIZE >> k, SIZE >> k), np.float32) for k in range(5)]


def at_level(levels, u, v, level, linear):
    """What a sampler reads at a level within the limits."""
    level = min(max(level, 0), len(levels) - 1)
    if not linear:
        image = levels[math.floor(level + 0.5)]
        return bilinear(image, u * len(image), v * len(image))
    level = math.floor(level * 256 + 0.5) / 256
    low = math.floor(level)
    near = bilinear(levels[low], u * len(levels[low]), v * len(levels[low]))
    if level == low:
        return near
    far = bilinear(levels[low + 1], u * len(levels[low + 1]), v * len(levels[low + 1]))
    return near + (far - near) * (level - low)


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("bias, limits", [(0, (0, math.inf)), (-0.5, (0.75, 2.5))])
def test_levels(device, levels, linear, bias, limits):
    texture = device.texture(
        levels[0], "linear", "wrap", True, levels=levels[1:],
        level_filter="linear" if linear else "point", level_bias=bias, level_limits=limits,
    )  # fmt: skip
    rng = np.random.default_rng(2)
    words = rng.integers(-64, 192, (THREADS, 3)) / 64
    words[:, 2] = rng.integers(-20, 100, THREADS) / 16
    text = module_text(f"tex.level.2d.v4.f32.f32 {RESULTS}, [%t, {{%f0, %f1}}], %f2;")
    got = run(device, text, texture, words)[:, 0]
    chosen = np.clip(words[:, 2] + bias, *limits)
    expected = [at_level(levels, u, v, n, linear) for (u, v), n in zip(words[:, :2], chosen)]
    assert np.allclose(got, expected, rtol=1e-5, atol=1e-6)
    plain = module_text(f"tex.2d.v4.f32.f32 {RESULTS}, [%t, {{%f0, %f1}}];")
    first = [bilinear(levels[0], u * SIZE, v * SIZE) for u, v, _ in words]
    assert np.allclose(run(device, plain, texture, words)[:, 0], first, rtol=1e-5, atol=1e-6)


def test_gradients_choose_the_level(device, levels):
    texture = device.texture(
        levels[0], "linear", "wrap", True, levels=levels[1:], level_filter="linear"
    )
    rng = np.random.default_rng(3)
    words = np.hstack([rng.integers(0, 64, (THREADS, 2)) / 64, rng.normal(0, 0.2, (THREADS, 4))])
    form = "tex.grad.2d.v4.f32.f32"
    text = module_text(f"{form} {RESULTS}, [%t, {{%f0, %f1}}], {{%f2, %f3}}, {{%f4, %f5}};")
    got = run(device, text, texture, words)[:, 0]
    slopes = np.maximum(np.hypot(words[:, 2], words[:, 3]), np.hypot(words[:, 4], words[:, 5]))
    expected = [
        at_level(levels, u, v, n, True) for (u, v), n in zip(words[:, :2], np.log2(slopes * SIZE))
    ]
    assert np.allclose(got, expected, rtol=0, atol=0.005)  # a level may be rounded the other way


def test_integer_coordinates_have_integer_levels(device, levels):
    texture = device.texture(levels[0], levels=levels[1:])
    words = np.zeros((THREADS, 3), np.int32)
    words[:, 0] = np.arange(THREADS) % 2
    words[:, 2] = np.arange(THREADS) % 7 - 1
    body = f"""mov.b32 %r0, %f0; mov.b32 %r1, %f1; mov.b32 %r2, %f2;
tex.level.2d.v4.f32.s32 {RESULTS}, [%t, {{%r0, %r1}}], %r2;"""
    got = run(device, module_text(body), texture, words.view(np.float32))[:, 0]
    chosen = np.clip(words[:, 2], 0, 4)
    expected = [levels[n][0, min(x, (SIZE >> n) - 1)] for x, n in zip(words[:, 0], chosen)]
    assert np.array_equal(got, np.array(expected, np.float32))


def on_face(x, y, z):
    """Face and coordinates of a direction, by the table of the CUDA C++ Programming Guide."""
    longest = max(abs(x), abs(y), abs(z))
    if abs(z) == longest:
        face, s, t = (4, x, -y) if z >= 0 else (5, -x, -y)
    elif abs(y) == longest:
        face, s, t = (2, x, z) if y >= 0 else (3, x, -z)
    else:
        face, s, t = (0, -z, -y) if x >= 0 else (1, z, -y)
    return face, (s / longest + 1) / 2, (t / longest + 1) / 2


def clamped(image, x, y):
    return image[np.clip(y, 0, len(image) - 1), np.clip(x, 0, len(image) - 1)]


@pytest.mark.parametrize("layered", [False, True])
@pytest.mark.parametrize("linear", [False, True])
def test_cubes(device, layered, linear):
    rng = np.random.default_rng(4)
    faces = rng.random((18 if layered else 6, SIZE, SIZE), np.float32)
    texture = device.texture(
        faces, "linear" if linear else "point", "wrap", cube=True, layered=layered
    )
    words = rng.integers(-64, 65, (THREADS, 4)) / 64
    words[np.abs(words[:, :3]).max(1) == 0] = 1
    layer = np.arange(THREADS) % 3 if layered else np.zeros(THREADS, int)
    table = words.astype(np.float32)
    table[:, 3] = layer.astype(np.uint32).view(np.float32)
    where = "{%r0, %f0, %f1, %f2}" if layered else "{%f0, %f1, %f2, %f2}"
    geometry = "acube" if layered else "cube"
    body = f"mov.b32 %r0, %f3; tex.{geometry}.v4.f32.f32 {RESULTS}, [%t, {where}];"
    got = run(device, module_text(body), texture, table)[:, 0]
    for lane, direction in enumerate(table[:, :3].astype(float)):
        face, s, t = on_face(*direction)
        image = faces[6 * layer[lane] + face]
        if linear:
            expected = bilinear(image, s * SIZE, t * SIZE, clamped)
            assert abs(got[lane] - expected) < 0.01  # 1/256 of a difference of two elements
        elif abs(s * SIZE % 1 - 0.5) < 0.49 and abs(t * SIZE % 1 - 0.5) < 0.49:
            assert got[lane] == clamped(image, int(s * SIZE), int(t * SIZE))


def test_offsets_count_elements(device):
    image = np.random.default_rng(5).random((5, 7)).astype(np.float32)
    rng = np.random.default_rng(6)
    words = np.zeros((THREADS, 4), np.float32)
    words[:, :2] = rng.integers(-32, 96, (THREADS, 2)) / 64
    moves = rng.integers(-8, 8, (THREADS, 2)).astype(np.int32)
    words[:, 2:] = moves.view(np.float32)
    start = "mov.b32 %r2, %f2; mov.b32 %r3, %f3; "
    body = start + f"tex.2d.v4.f32.f32 {RESULTS}, [%t, {{%f0, %f1}}], {{%r2, %r3}};"
    index = {
        "wrap": lambda i, n: i % n,
        "mirror": lambda i, n: min(i % (2 * n), 2 * n - 1 - i % (2 * n)),
        "clamp": lambda i, n: min(max(i, 0), n - 1),
    }
    for mode, of in index.items():
        got = run(device, module_text(body), device.texture(image, "point", mode, True), words)
        for lane, (u, v) in enumerate(words[:, :2].astype(float)):
            if mode == "wrap":
                u, v = u % 1, v % 1
            if mode == "mirror":
                u, v = u % 2, v % 2
            x, y = math.floor(u * 7) + moves[lane, 0], math.floor(v * 5) + moves[lane, 1]
            assert got[lane, 0] == image[of(y, 5), of(x, 7)], (mode, lane)


def test_samplers_apart_from_textures(device):
    image = np.random.default_rng(7).random((SIZE, SIZE), np.float32)
    texture = device.texture(image, normalized=True)
    words = np.random.default_rng(8).integers(-64, 192, (THREADS, 2)) / 64
    text = module_text(
        f"tex.2d.v4.f32.f32 {RESULTS}, [%t, %s, {{%f0, %f1}}];", "", ", texmode_independent"
    )
    wrap = device.sampler("linear", "wrap", normalized=True)
    got = run(device, text, texture, words, wrap)[:, 0]
    expected = [bilinear(image, u * SIZE, v * SIZE) for u, v in words]
    assert np.allclose(got, expected, rtol=1e-5, atol=1e-6)
    elements = device.sampler("point", "clamp", normalized=False)
    got = run(device, text, texture, words * 4, elements)[:, 0]
    expected = [clamped(image, math.floor(u), math.floor(v)) for u, v in words * 4]
    assert np.array_equal(got, np.array(expected, np.float32))
    with pytest.raises(lockstep.LockstepError, match="no texture or surface has the handle"):
        run(device, text, texture, words, texture)
    with pytest.raises(lockstep.LockstepError, match="no texture or surface has the handle"):
        run(device, text, wrap, words, wrap)


def test_lanes_may_use_different_samplers(device):
    texture = device.texture(np.arange(8, dtype=np.float32), normalized=True)
    samplers = [device.sampler("point", mode, True) for mode in ("wrap", "clamp", "border")]
    table = device.array(np.array([s.handle for s in samplers], np.int64))
    body = f"""rem.u32 %r0, %i, 3; mad.wide.u32 %s, %r0, 8, %s; ld.global.u64 %s, [%s];
tex.1d.v4.f32.f32 {RESULTS}, [%t, %s, {{%f0}}];"""
    got = run(device, module_text(body), texture, np.full((THREADS, 1), 1.3), table)[:, 0]
    assert np.array_equal(got, np.array([2, 7, 0], np.float32)[np.arange(THREADS) % 3])


def test_references_of_samplers(device):
    declarations = ".global .texref image; .global .samplerref how;"
    body = f"tex.1d.v4.f32.f32 {RESULTS}, [image, how, {{%f0}}];"
    module = device.load_ptx(module_text(body, declarations, ", texmode_independent"))
    texture = device.texture(np.arange(8, dtype=np.float32), normalized=True)
    module.bind("image", texture)
    module.bind("how", device.sampler("point", "wrap", normalized=True))
    target, words = device.zeros((1, 4)), device.array(np.full((1, 8), -0.25, np.float32))
    module["k"][1, 1](0, 0, words, target)
    assert target.numpy()[0, 0] == 6


def test_addresses_of_references(device):
    declarations = ".global .texref image; .global .samplerref how; .global .b64 other;"
    body = "mov.u32 %r3, 0;"
    for k, kind in enumerate(("texref", "samplerref", "surfref")):
        body += f"mov.u32 %r{k}, 0;"
        for weight, name in ((1, "image"), (2, "how"), (4, "other")):
            body += (
                f"mov.u64 %t, {name}; istypep.{kind} %p, %t; @%p add.u32 %r{k}, %r{k}, {weight};"
            )
    got = run(device, module_text(body, declarations), 0, np.zeros((THREADS, 1)))
    assert (got.view(np.uint32) == [1, 2, 0, 0]).all()


def test_halves_one_by_one(device):
    image = np.random.default_rng(9).random((8, 4)).astype(np.float32)
    texture = device.texture(image, channels=4)
    body = """tex.1d.v4.f16.f32 {%h0, %h1, %h2, %h3}, [%t, {%f0}];
cvt.u32.u16 %r0, %h0; cvt.u32.u16 %r1, %h1; cvt.u32.u16 %r2, %h2; cvt.u32.u16 %r3, %h3;"""
    got = run(device, module_text(body), texture, np.arange(THREADS)[:, None] % 8)
    halves = got.view(np.uint32).astype(np.uint16).view(np.float16)
    assert np.array_equal(halves, image[np.arange(THREADS) % 8].astype(np.float16))


def test_queries_of_levels(device, levels):
    texture = device.texture(levels[0], "linear", normalized=True, levels=levels[1:])
    body = """mov.u32 %r3, %i; txq.level.width.b32 %r0, [%t], %r3;
txq.num_mipmap_levels.b32 %r1, [%t]; txq.filter_mode.b32 %r2, [%t];"""
    got = run(device, module_text(body), texture, np.zeros((THREADS, 1))).view(np.uint32)
    assert list(got[:6, 0]) == [16, 8, 4, 2, 1, 0]
    assert (got[:, 1:3] == [5, 1]).all()


@pytest.mark.parametrize(
    "shape, options, message",
    [
        ((5, 4, 4), {"cube": True}, "six square faces"),
        ((6, 4, 8), {"cube": True}, "six square faces"),
        ((4,), {"level_filter": "cubic"}, "filter 'cubic'"),
    ],
)
def test_what_no_texture_can_be_is_refused(device, shape, options, message):
    with pytest.raises(WorkloadError, match=message):
        device.texture(np.zeros(shape, np.float32), **options)

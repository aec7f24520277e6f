"""Comparisons of depth, textures of several samples, and what samplers say, against naive twins."""

import math
import operator

import numpy as np
import pytest

from lockstep import InputError, WorkloadError
from ptx_twin.texture_programs import RESULTS, THREADS, module_text, run

HEIGHT, WIDTH = 9, 12
COMPARISONS = {
    "never": lambda depth, element: False,
    "less": operator.lt,
    "equal": operator.eq,
    "less_equal": operator.le,
    "greater": operator.gt,
    "not_equal": lambda depth, element: depth < element or depth > element,
    "greater_equal": operator.ge,
    "always": lambda depth, element: True,
}
INDEPENDENT = ", texmode_independent"


@pytest.fixture(scope="module")
def image():
    image = (np.random.default_rng(3).integers(0, 5, (HEIGHT, WIDTH)) / 4).astype(np.float32)
    image[2, 3] = np.nan
    return image


def words():
    """Coordinates in elements, and a depth."""
    rng = np.random.default_rng(4)
    at = rng.integers(-16, 16 * (WIDTH + 1), (THREADS, 2)) / 16
    return np.hstack([at, rng.integers(0, 5, (THREADS, 1)) / 4])


def passes(image, compare, depth, x, y):
    y, x = min(max(y, 0), HEIGHT - 1), min(max(x, 0), WIDTH - 1)
    return float(COMPARISONS[compare](np.float32(depth), image[y, x]))


def filtered(image, compare, u, v, depth):
    """The linear filter over what comparisons give, weights in 1/256."""
    low = [math.floor(c - 0.5) for c in (u, v)]
    a, b = (math.floor((c - 0.5 - n) * 256 + 0.5) / 256 for c, n in zip((u, v), low))
    corners = [(low[0] + i, low[1] + j) for j in (0, 1) for i in (0, 1)]
    weights = [(1 - a) * (1 - b), a * (1 - b), (1 - a) * b, a * b]
    return sum(w * passes(image, compare, depth, *c) for w, c in zip(weights, corners))


@pytest.mark.parametrize("compare", COMPARISONS)
def test_elements_are_compared_and_the_outcomes_filtered(device, image, compare):
    text = module_text(f"tex.2d.v4.f32.f32 {RESULTS}, [%t, {{%f0, %f1}}], %f2;")
    near = run(device, text, device.texture(image, compare=compare), words())
    expected = [passes(image, compare, d, math.floor(u), math.floor(v)) for u, v, d in words()]
    assert near[:, 0].tolist() == expected
    assert (near[:, 1:] == [0, 0, 1]).all()
    got = run(device, text, device.texture(image, "linear", compare=compare), words())
    expected = [filtered(image, compare, *word) for word in words()]
    assert np.allclose(got[:, 0], expected, rtol=1e-6, atol=1e-6)


def test_offsets_come_before_the_depth(device, image):
    body = f"mov.b32 %r0, 2; mov.b32 %r1, -1; tex.2d.v4.f32.f32 {RESULTS}, [%t, {{%f0, %f1}}], "
    text = module_text(body + "{%r0, %r1}, %f2;")
    got = run(device, text, device.texture(image), words())[:, 0]
    at = [(math.floor(u) + 2, math.floor(v) - 1, d) for u, v, d in words()]
    assert got.tolist() == [passes(image, "less_equal", d, x, y) for x, y, d in at]


def test_gathered_elements_are_compared_each(device, image):
    pairs = np.stack([np.zeros_like(image), image], axis=-1)
    texture = device.texture(pairs, channels=2, compare="greater")
    text = module_text(f"tld4.g.2d.v4.f32.f32 {RESULTS}, [%t, {{%f0, %f1}}], %f2;")
    got = run(device, text, texture, words())
    for lane, (u, v, depth) in enumerate(words()):
        x, y = math.floor(u - 0.5), math.floor(v - 0.5)
        corners = ((x, y + 1), (x + 1, y + 1), (x + 1, y), (x, y))
        assert got[lane].tolist() == [passes(image, "greater", depth, *c) for c in corners]


def test_levels_layers_and_cubes_are_compared(device, image):
    depth = words()[:, 2]
    text = module_text(f"tex.level.2d.v4.f32.f32 {RESULTS}, [%t, {{%f0, %f1}}], %f3, %f2;")
    texture = device.texture(image, levels=[np.full((4, 6), 0.5, np.float32)])
    got = run(device, text, texture, np.hstack([words(), np.ones((THREADS, 1))]))
    assert got[:, 0].tolist() == (depth <= 0.5).tolist()
    body = f"mov.b32 %r0, 1; tex.a2d.v4.f32.f32 {RESULTS}, "
    text = module_text(body + "[%t, {%r0, %f0, %f1, %f1}], %f2;")
    layers = [image, np.full_like(image, 0.25), image]
    got = run(device, text, device.texture(np.stack(layers), layered=True), words())
    assert got[:, 0].tolist() == (depth <= 0.25).tolist()
    text = module_text(f"tex.cube.v4.f32.f32 {RESULTS}, [%t, {{%f0, %f1, %f1, %f0}}], %f2;")
    cube = device.texture(np.full((6, 4, 4), 0.75, np.float32), cube=True, normalized=True)
    assert run(device, text, cube, words())[:, 0].tolist() == (depth <= 0.75).tolist()


def test_a_sampler_says_how_to_compare(device, image):
    instruction = f"tex.2d.v4.f32.f32 {RESULTS}, [%t, %s, {{%f0, %f1}}], %f2;"
    text = module_text(instruction, "", INDEPENDENT)
    never, always = device.texture(image, compare="never"), device.sampler(compare="always")
    assert run(device, text, never, words(), always)[:, 0].all()


@pytest.mark.parametrize(
    "instruction",
    [
        "tex.3d.v4.f32.f32 R, [%t, {%f0, %f1, %f2, %f3}], %f4;",
        "tex.2d.v4.f32.s32 R, [%t, {%r0, %r1}], %f4;",
        "tex.2dms.v4.f32.s32 R, [%t, {%r0, %r1, %r2, %r3}], %f4;",
        "tex.2d.v4.f32.f32 R, [%t, {%f0, %f1}], %f2, %f3;",
    ],
)
def test_what_compares_no_depths_is_refused(device, instruction):
    with pytest.raises(InputError, match="compares no depths"):
        device.load_ptx(module_text(instruction.replace("R", RESULTS)))


def test_a_comparison_that_there_is_not_is_refused(device, image):
    with pytest.raises(WorkloadError, match="comparison 'near': expected one of never, less"):
        device.texture(image, compare="near")


# Several samples an element


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("layers", [0, 3])
def test_samples_of_elements(device, layers, channels):
    rng = np.random.default_rng(layers)
    shape = (layers,) * bool(layers) + (HEIGHT, WIDTH, 4) + (channels,) * (channels > 1)
    values = rng.random(shape, np.float32)
    texture = device.texture(values, samples=4, layered=bool(layers), channels=channels)
    own = rng.integers([-2, -2, 0, 0], [WIDTH + 2, HEIGHT + 2, 6, 4], (THREADS, 4))
    moves = " ".join(f"cvt.rzi.s32.f32 %r{k}, %f{k};" for k in range(4))
    name, at = "tex.base.2dms", "%r2, %r0, %r1, %r3"
    if layers:
        name, at = "tex.a2dms", "%r2, %r3, %r0, %r1"
    text = module_text(f"{moves} {name}.v4.f32.s32 {RESULTS}, [%t, {{{at}}}];")
    got = run(device, text, texture, own.astype(np.float32))
    for lane, (x, y, sample, layer) in enumerate(own):
        x, y = min(max(x, 0), WIDTH - 1), min(max(y, 0), HEIGHT - 1)
        place = (min(layer, 2),) * bool(layers) + (y, x, min(sample, 3))
        assert got[lane, :channels].tolist() == np.atleast_1d(values[place]).tolist()


def test_a_texture_without_samples_has_one(device, image):
    body = f"mov.b32 %r1, 3; mov.b32 %r2, 1; tex.2dms.v4.f32.s32 {RESULTS}, "
    text = module_text(body + "[%t, {%r1, %r1, %r2, %r2}];")
    got = run(device, text, device.texture(image), words())
    assert (got[:, 0] == image[1, 3]).all()


@pytest.mark.parametrize(
    "shape, samples, message",
    [
        ((4, 4, 3), 2, "no last axes for 2 samples"),
        ((8, 2), 2, "of two dimensions can have samples"),
        ((2, 4, 4, 2), 2, "of two dimensions can have samples"),
        ((4, 4), 0, "of two dimensions can have samples"),
    ],
)
def test_shapes_that_hold_no_samples_are_refused(device, shape, samples, message):
    with pytest.raises(WorkloadError, match=message):
        device.texture(np.zeros(shape, np.float32), samples=samples)


# Queries


def queries(device, names, texture, sampler=0, operand="%t", parameters=""):
    lines = [f"txq.{name}.b32 %r{k}, [{operand}];" for k, name in enumerate(names)]
    text = module_text(" ".join(lines), "", parameters)
    return run(device, text, texture, np.zeros((THREADS, 1)), sampler).view(np.uint32)[0].tolist()


MODES = ("addr_mode_0", "addr_mode_1", "addr_mode_2", "num_samples")


def test_address_modes_and_samples_are_told(device, image):
    texture = device.texture(image, address=("wrap", "mirror", "border"), normalized=True)
    assert queries(device, MODES, texture) == [0, 1, 4, 1]
    several = device.texture(np.zeros((4, 4, 8), np.float32), samples=8)
    assert queries(device, MODES, several) == [3, 3, 3, 8]


def test_samplers_are_asked_in_independent_mode(device, image):
    names = ("force_unnormalized_coords", "filter_mode", "addr_mode_0", "addr_mode_1")
    texture, plain = device.texture(image), device.sampler()
    sampler = device.sampler("linear", ("wrap", "mirror"), normalized=True)
    assert queries(device, names, texture, sampler, "%s", INDEPENDENT) == [0, 1, 0, 1]
    assert queries(device, names, texture, plain, "%s", INDEPENDENT) == [1, 0, 3, 3]


def test_surfaces_are_arrays_of_cuda(device, image):
    text = module_text("mov.b32 %r0, 7; suq.memory_layout.b32 %r0, [%t];")
    got = run(device, text, device.texture(image), np.zeros((THREADS, 1)))
    assert not got.view(np.uint32)[:, 0].any()


def test_names_of_another_language_are_refused(device):
    for name in ("txq.channel_order.b32", "suq.channel_data_type.b32"):
        with pytest.raises(InputError, match=f"{name} is not supported: a number of another"):
            device.load_ptx(module_text(f"{name} %r0, [%t];"))

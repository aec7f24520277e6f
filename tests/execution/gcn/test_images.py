"""Images: every way to wrap and to filter, borders, levels, atomic operations, against NumPy."""

from pathlib import Path

import numpy as np
import pytest

import lockstep
from gcn_twin import images as twin
from gcn_twin.atomics import changed
from lockstep.errors import LockstepError

KERNELS = Path(__file__).parent / "kernels" / "images.bin"
ITEMS = 256
HEIGHT, WIDTH, DEPTH = 5, 7, 3


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(20121)


@pytest.fixture(scope="module")
def device():
    with lockstep.Device(memory_bytes=1 << 26) as device:
        yield device


@pytest.fixture(scope="module")
def rows(device):
    """Function from a kernel, pixels, four numbers an item and a sampler to four words an item."""

    def rows(kernel, pixels, numbers, sampler=(0, 0, 0, 0), *, normalized=False):
        out = device.zeros((ITEMS, 4), np.uint32)
        image = device.image(pixels, normalized=normalized)
        launch = device.load_gcn(KERNELS)[kernel][ITEMS, ITEMS]
        launch(image, device.array(numbers.view(np.float32)), out, sampler)
        return out.numpy()

    return rows


def elements(rng, channels, dtype=np.float32, depth=1):
    shape = (depth, HEIGHT, WIDTH, channels)
    if dtype == np.float32:
        return rng.normal(size=shape).astype(dtype)
    return rng.integers(0, 256, shape).astype(dtype)


def coordinates(rng, *, plain=False):
    """Around the image, at edges and middles of elements, far away, and no numbers."""
    sizes = np.array([WIDTH, HEIGHT, DEPTH, 1], np.float32)
    at = rng.uniform(-2.2, 3.2, (ITEMS, 4)).astype(np.float32) * sizes
    at[:96] = np.floor(at[:96] * 2) / 2
    at[96:104, :2] = [[np.nan, 1], [1, np.inf], [-np.inf, 1], [1e30, 1], [1, -1e9], [0, 0],
                      [WIDTH, HEIGHT], [-0.0, 0.5]]  # fmt: skip
    return at if plain else (at / sizes).astype(np.float32)


def same(got, expected):
    """Bits, but any NaN for a NaN."""
    expected = np.asarray(expected)
    if expected.dtype != np.float32:
        return np.array_equal(got, expected)
    return np.array_equal(got.view(np.float32), expected, equal_nan=True)


@pytest.mark.long
@pytest.mark.parametrize("linear", [False, True], ids=["nearest", "linear"])
@pytest.mark.parametrize("mode", range(8))
def test_samplers_wrap_and_filter(rows, rng, mode, linear):
    for channels, color, plain in ((4, 0, False), (2, 1, True), (1, 2, False), (4, 1, True)):
        pixels, at = elements(rng, channels), coordinates(rng, plain=plain)
        sampler = twin.words(mode, linear=linear, plain=plain, color=color)
        image = twin.Image(pixels)
        expected = [image.sample(item, sampler) for item in at]
        assert same(rows("sample", pixels[0], at, sampler), expected)


@pytest.mark.parametrize("mode", [twin.WRAP, twin.LAST, twin.BORDER])
@pytest.mark.parametrize("linear", [False, True], ids=["nearest", "linear"])
def test_volumes_have_a_third_axis(rows, rng, mode, linear):
    pixels, at = elements(rng, 4, depth=DEPTH), coordinates(rng)
    sampler = twin.words(mode, linear=linear)
    image = twin.Image(pixels)
    expected = [image.sample(item, sampler) for item in at]
    assert same(rows("sample_volume", pixels, at, sampler), expected)


def test_bytes_as_numbers_up_to_1_are_filtered(rows, rng):
    pixels, at = elements(rng, 4, np.uint8), coordinates(rng)
    sampler = twin.words(twin.LAST, linear=True)
    image = twin.Image(pixels / np.float32(255))
    expected = [image.sample(item, sampler) for item in at]
    assert same(rows("sample", pixels[0], at, sampler, normalized=True), expected)


def test_whole_numbers_are_never_filtered(rows, rng):
    pixels, at = elements(rng, 4, np.uint32), coordinates(rng)
    sampler = twin.words(twin.BORDER, linear=True, color=2)
    image = twin.Image(pixels)
    expected = [image.sample(item, sampler) for item in at]
    assert same(rows("sample", pixels[0], at, sampler), expected)


def test_an_instruction_may_count_elements(rows, rng):
    pixels, at = elements(rng, 4), coordinates(rng, plain=True)
    sampler = twin.words(twin.MIRROR, linear=True)
    image = twin.Image(pixels)
    expected = [image.sample(item, sampler, plain=True) for item in at]
    assert same(rows("sample_plain", pixels[0], at, sampler), expected)


def test_a_level_changes_nothing_where_there_is_one(rows, rng):
    pixels, at = elements(rng, 4), coordinates(rng)
    sampler = twin.words(twin.WRAP, linear=True)
    image = twin.Image(pixels)
    expected = np.array([image.sample(item, sampler) for item in at])
    found = rows("sample_level", pixels[0], at, sampler)
    assert same(found[:, :3], expected[:, [0, 1, 3]])
    assert not found[:, 3].any()


@pytest.mark.long
@pytest.mark.parametrize("mode", [twin.WRAP, twin.ONCE_BORDER])
def test_offsets_count_elements(rows, rng, mode):
    pixels, at = elements(rng, 4), coordinates(rng)
    offsets = rng.integers(-8, 8, (ITEMS, 3))
    packed = (offsets & 63) << np.array([0, 8, 16])
    numbers = np.concatenate([packed.sum(axis=1).astype(np.uint32)[:, None],
                              at[:, :3].view(np.uint32)], axis=1)  # fmt: skip
    sampler = twin.words(mode, linear=True)
    image = twin.Image(pixels)
    each = [(item, {"offsets": offset.tolist()}) for item, offset in zip(at, offsets)]
    expected = [image.sample(item, sampler, **how) for item, how in each]
    for kernel in ("sample_offset", "sample_offset_implicit", "sample_level_offset"):
        assert same(rows(kernel, pixels[0], numbers, sampler), expected), kernel
    expected = [image.gather(item, sampler, 0, **how) for item, how in each]
    for kernel in ("gather_offset", "gather_offset_implicit", "gather_level_offset"):
        assert same(rows(kernel, pixels[0], numbers, sampler), expected), kernel


@pytest.mark.parametrize("mode", range(8))
def test_four_neighbours_are_gathered(rows, rng, mode):
    sampler = twin.words(mode, color=2)
    for channels, dtype in ((4, np.float32), (1, np.float32), (2, np.uint32)):
        pixels, at = elements(rng, channels, dtype), coordinates(rng)
        image = twin.Image(pixels)
        expected = [image.gather(item, sampler, 1) for item in at]
        for kernel in ("gather", "gather_first", "gather_level"):
            assert same(rows(kernel, pixels[0], at, sampler), expected), kernel


@pytest.mark.parametrize("axes", [2, 3])
def test_there_is_one_level(rows, rng, axes):
    pixels = elements(rng, 4, np.uint32, DEPTH if axes == 3 else 1)
    numbers = rng.integers(-2, 8, (ITEMS, 4)).astype(np.uint32)
    numbers[:, axes] = rng.integers(0, 2, ITEMS)
    expected = np.zeros((ITEMS, 4), np.uint32)
    for k, (*at, _) in enumerate(numbers[:, : axes + 1].tolist()):
        x, y, z = (*at, 0)[:3]
        inside = x < WIDTH and y < HEIGHT and z < len(pixels)
        if inside and not numbers[k, axes]:
            expected[k] = pixels[z, y, x]
    kernel, pixels = ("load_level", pixels[0]) if axes == 2 else ("load_volume_level", pixels)
    assert same(rows(kernel, pixels, numbers), expected)


def test_elements_are_loaded_and_stored_where_there_are_any(device, rows, rng):
    numbers = rng.integers(-1, 8, (ITEMS, 4)).astype(np.uint32)
    numbers[:, 2] = np.arange(ITEMS) % 2  # the level of one kernel, a channel of the other
    pixels = elements(rng, 4, np.uint32)[0]
    loaded, stored, of_level = np.zeros((ITEMS, 4), np.uint32), pixels.copy(), pixels.copy()
    for k, (x, y, z, w) in enumerate(numbers.tolist()):
        if x < WIDTH and y < HEIGHT:
            loaded[k] = pixels[y, x]
            stored[y, x] = y, 0, z, 0
            if not z:
                of_level[y, x] = x, y, z, w
    assert same(rows("load", pixels, numbers), loaded)
    for kernel, expected in (("store", stored), ("store_level", of_level)):
        image, out = device.image(pixels), device.zeros((ITEMS, 4), np.uint32)
        launch = device.load_gcn(KERNELS)[kernel][ITEMS, ITEMS]
        launch(image, device.array(numbers.view(np.float32)), out, (0, 0, 0, 0))
        assert np.array_equal(image.numpy(), expected), kernel


def test_an_image_tells_its_sizes(rows, rng):
    numbers = np.zeros((ITEMS, 4), np.uint32)
    found = rows("describe", elements(rng, 4, depth=DEPTH), numbers)
    assert (found == [WIDTH, HEIGHT, DEPTH, 1]).all()


OPERATIONS = (
    "swap", "cmpswap", "add", "sub", "rsub", "smin", "umin", "smax", "umax", "and", "or", "xor",
    "inc", "dec", "fcmpswap", "fmin", "fmax",
)  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("bits", [32, 64])
def test_atomic_operations_change_elements(device, rng, bits):
    """Eight cells a row, a row an operation; the last lane's cells are outside."""
    kind, lanes = np.dtype(f"uint{bits}"), 64
    reals = rng.normal(size=4).astype(f"float{bits}").view(kind)
    few = np.array([0, 1, 3, (1 << bits) - 2, *reals.tolist()], kind)
    cells = rng.choice(few, (len(OPERATIONS), 8))
    given = rng.choice(few, (lanes, 2))
    expected, olds = cells.copy(), np.zeros((len(OPERATIONS), lanes), kind)
    for row, operation in enumerate(OPERATIONS):
        for lane, (new, other) in enumerate(given.tolist()):
            if lane & 7 < 7:  # the image is a column less wide
                olds[row, lane] = expected[row, lane & 7]
                old = int(expected[row, lane & 7])
                expected[row, lane & 7] = changed(operation, old, new, other, bits)
    words = bits // 32
    shape = (len(OPERATIONS), 7) if words == 1 else (len(OPERATIONS), 7, 2)
    pixels = np.ascontiguousarray(cells[:, :7]).view(np.uint32).reshape(shape)
    image, out = device.image(pixels), device.zeros((len(OPERATIONS), lanes, 2), np.uint32)
    padded = np.zeros((lanes, 4), np.uint32)
    padded[:, : 2 * words] = given.view(np.uint32)
    name = "change" if words == 1 else "change_wide"
    device.load_gcn(KERNELS)[name][lanes, lanes](image, device.array(padded), out)
    found = np.ascontiguousarray(out.numpy()[:, :, :words]).view(kind)[:, :, 0]
    left = np.ascontiguousarray(image.numpy()).reshape(len(OPERATIONS), 7 * words).view(kind)
    for row, operation in enumerate(OPERATIONS):
        assert np.array_equal(left[row], expected[row, :7]), operation
        assert np.array_equal(found[row], olds[row]), operation


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("0001a0f0 04080500", "image_sample_c .*image_sample_c is not supported"),
        ("000188f0 04080500", "image_sample_d .*image_sample_d is not supported"),
        ("000380f1 04080500".replace("80f1", "00f1"), "dmask 0x3 is not one channel"),
        ("00053cf0 04080500", "dmask 0x5 stands for no elements of 32 or 64 bits"),
        ("004180f0 04080500", "images with da are not supported"),
    ],
)
def test_what_is_not_there_is_refused_by_name(device, code, message):
    import cal_files

    source = cal_files.Source("k", vgprs=32, sgprs=64)
    data = cal_files.binary([(source, bytes.fromhex(code + "000081bf"))])
    with pytest.raises(LockstepError, match=message):
        device.load_gcn(data)["k"][64, 64]()

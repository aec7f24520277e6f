"""Surface instructions: bytes of rows, and what happens outside."""

import numpy as np
import pytest

import lockstep

HEADER = ".version 8.6\n.target sm_90\n.address_size 64\n"
THREADS = 64
COORDINATES = {"1d": 1, "2d": 2, "3d": 4, "a1d": 2, "a2d": 4}
SHAPES = {"1d": (16,), "2d": (4, 16), "3d": (3, 4, 16), "a1d": (3, 16), "a2d": (3, 4, 16)}


def kernel(body, geometry):
    """Coordinates are four words a thread; results and operands 16 bytes a thread."""
    names = ", ".join(f"%c{i}" for i in range(COORDINATES[geometry]))
    loads = "\n".join(f"ld.global.b32 %c{i}, [%in+{4 * i}];" for i in range(4))
    return f"""{HEADER}
.visible .entry k(.param .u64 surface, .param .u64 source, .param .u64 target)
{{
.reg .b64 %s, %in, %out; .reg .b32 %c<4>, %i; .reg .b16 %h<4>; .reg .b32 %w<4>; .reg .b64 %d<4>;
ld.param.u64 %s, [surface]; ld.param.u64 %in, [source]; ld.param.u64 %out, [target];
mov.u32 %i, %tid.x;
mad.wide.u32 %in, %i, 16, %in; mad.wide.u32 %out, %i, 16, %out;
{loads}
{body.replace("AT", f"[%s, {{{names}}}]")}
ret;
}}
"""


def words(bits, count):
    letter = {8: "h", 16: "h", 32: "w", 64: "d"}[bits]
    names = ", ".join(f"%{letter}{k}" for k in range(count))
    return f"{{{names}}}" if count > 1 else names


def coordinates(rng, geometry, size):
    """x in bytes, aligned; some outside; in the order of the instruction's operands."""
    shape = SHAPES[geometry]
    limits = (*shape[::-1][1:], 1, 1)[:2]
    x = rng.integers(-4, 16 * 4 // size + 4, THREADS) * size
    y, z = (rng.integers(-1, n + 1, THREADS) for n in limits)
    columns = {"1d": [x], "2d": [x, y], "3d": [x, y, z], "a1d": [y, x], "a2d": [z, x, y]}
    table = np.zeros((THREADS, 4), np.int32)
    for k, column in enumerate(columns[geometry]):
        table[:, k] = column
    return table


def byte_index(geometry, row, size, clamp):
    """Where in the array's bytes a lane's access is, None for outside."""
    place = {"1d": "x", "2d": "xy", "3d": "xyz", "a1d": "zx", "a2d": "zxy"}[geometry]
    at = dict(zip(place, row))
    shape = SHAPES[geometry]
    extents = (shape[::-1] + (1, 1))[1:]
    if geometry == "a1d":
        extents = (1, shape[0])
    limits = {"x": 64 - size, "y": extents[0] - 1, "z": extents[1] - 1}
    for axis, limit in limits.items():
        value = int(at.get(axis, 0))
        inside = min(max(value, 0), limit)
        if value != inside and not clamp:
            return None
        at[axis] = inside
    return (at["z"] * extents[0] + at["y"]) * 64 + at["x"]


@pytest.mark.parametrize("outside", ["clamp", "zero"])
@pytest.mark.parametrize("geometry", SHAPES)
@pytest.mark.parametrize("bits, count", [(8, 1), (16, 2), (32, 1), (32, 4), (64, 2)])
def test_loads_and_stores_reach_the_bytes_that_they_name(device, geometry, outside, bits, count):
    rng = np.random.default_rng(4)
    image = rng.integers(0, 1 << 32, SHAPES[geometry], np.uint32)
    surface = device.texture(image, layered=geometry[0] == "a")
    vector = f".v{count}" if count > 1 else ""
    access = f"{geometry}{vector}.b{bits}.{outside}"
    names = words(bits, count)
    size = bits // 8 * count
    load = f"suld.b.{access} {names}, AT; st.global{vector}.b{bits} [%out], {names};"
    at = coordinates(rng, geometry, size)
    target = device.array(np.zeros((THREADS, 16), np.uint8))
    device.load_ptx(kernel(load, geometry))["k"][1, THREADS](surface, device.array(at), target)
    content = image.view(np.uint8).reshape(-1)
    expected = np.zeros((THREADS, 16), np.uint8)
    for lane, row in enumerate(at):
        first = byte_index(geometry, row, size, outside == "clamp")
        if first is not None:
            expected[lane, :size] = content[first : first + size]
    assert np.array_equal(target.numpy(), expected)

    store = f"ld.global{vector}.b{bits} {names}, [%out]; sust.b.{access} AT, {names};"
    new = rng.integers(0, 256, (THREADS, 16), np.uint8)
    values = device.array(new)
    device.load_ptx(kernel(store, geometry))["k"][1, THREADS](surface, device.array(at), values)
    for lane, row in enumerate(at):
        first = byte_index(geometry, row, size, outside == "clamp")
        if first is not None:
            content[first : first + size] = new[lane, :size]
    assert np.array_equal(surface.numpy(), image)


@pytest.mark.parametrize(
    "operation, kind, combine",
    [
        ("add", "u32", np.add),
        ("min", "s32", lambda a, b: np.minimum(a.view(np.int32), b.view(np.int32))),
        ("max", "u32", np.maximum),
        ("and", "b32", np.bitwise_and),
        ("or", "b32", np.bitwise_or),
    ],
)
def test_reductions_are_done_lane_after_lane(device, operation, kind, combine):
    rng = np.random.default_rng(5)
    image = rng.integers(0, 1 << 32, (4, 16), np.uint32)
    surface = device.texture(image)
    body = f"ld.global.b32 %w0, [%out]; sured.b.{operation}.2d.{kind}.zero AT, %w0;"
    at = coordinates(rng, "2d", 4)
    new = rng.integers(0, 1 << 32, (THREADS, 4), np.uint32)
    arguments = (surface, device.array(at), device.array(new))
    device.load_ptx(kernel(body, "2d"))["k"][1, THREADS](*arguments)
    flat = image.reshape(-1)
    for lane, row in enumerate(at):
        first = byte_index("2d", row, 4, False)
        if first is not None:
            place = slice(first // 4, first // 4 + 1)
            flat[place] = combine(flat[place], new[lane, :1]).view(np.uint32)
    assert np.array_equal(surface.numpy(), image)


def stored(dtype, normalized, word):
    """What a surface keeps of a 32-bit word."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return np.uint32(word).view(np.float32).astype(dtype)
    limits = np.iinfo(dtype)
    if normalized:
        number = min(max(float(np.uint32(word).view(np.float32)), min(limits.min, 0) and -1), 1)
        return dtype.type(np.rint(np.float32(number) * np.float32(limits.max)))
    number = int(word) if dtype.kind == "u" else int(np.uint32(word).view(np.int32))
    return dtype.type(min(max(number, limits.min), limits.max))


@pytest.mark.parametrize(
    "dtype, channels, given, normalized",
    [("u1", 4, 4, False), ("i1", 2, 4, False), ("u2", 1, 2, False), ("i2", 4, 2, False),
     ("u4", 2, 2, False), ("i4", 1, 1, False), ("f2", 2, 4, False), ("f4", 4, 1, False),
     ("u1", 4, 4, True), ("i2", 2, 2, True)],
)  # fmt: skip
def test_formatted_stores(device, dtype, channels, given, normalized):
    rng = np.random.default_rng(6)
    image = np.zeros((4, 16, channels), dtype)
    image[:] = 7
    surface = device.texture(
        image if channels > 1 else image[..., 0], channels=channels, normalized_values=normalized
    )
    at = np.zeros((THREADS, 4), np.int32)
    places = rng.permutation(6 * 18)[:THREADS]
    at[:, 0], at[:, 1] = places % 18 - 1, places // 18 - 1
    new = rng.integers(-300, 300, (THREADS, 4)).astype(np.int32)
    if normalized or np.dtype(dtype).kind == "f":
        new = rng.uniform(-2, 2, (THREADS, 4)).astype(np.float32)
    vector = {1: "", 2: ".v2", 4: ".v4"}[given]
    body = f"ld.global.v4.b32 {words(32, 4)}, [%out]; "
    body += f"sust.p.2d{vector}.b32.zero AT, {words(32, given)};"
    arguments = (surface, device.array(at), device.array(new))
    device.load_ptx(kernel(body, "2d"))["k"][1, THREADS](*arguments)
    for (x, y, *_), row in zip(at, new.view(np.uint32)):
        if 0 <= x < 16 and 0 <= y < 4:
            for k in range(min(channels, given)):
                image[y, x, k] = stored(dtype, normalized, row[k])
    assert np.array_equal(surface.numpy().reshape(image.shape), image)


@pytest.mark.parametrize("dtype", ["u4", "i4"])
@pytest.mark.parametrize("operation", ["min", "add"])
def test_formatted_reductions_are_signed_if_the_surface_is(device, operation, dtype):
    rng = np.random.default_rng(7)
    image = rng.integers(0, 1 << 32, (4, 16), np.uint32).view(dtype)
    surface = device.texture(image)
    at = np.zeros((THREADS, 4), np.int32)
    at[:, 0], at[:, 1] = rng.integers(-1, 17, THREADS), rng.integers(0, 4, THREADS)
    new = rng.integers(0, 1 << 32, (THREADS, 4), np.uint32)
    body = f"ld.global.b32 %w0, [%out]; sured.p.{operation}.2d.b32.zero AT, %w0;"
    arguments = (surface, device.array(at), device.array(new))
    device.load_ptx(kernel(body, "2d"))["k"][1, THREADS](*arguments)
    combine = {"min": np.minimum, "add": np.add}[operation]
    for (x, y, *_), row in zip(at, new.view(dtype)):
        if 0 <= x < 16:
            image[y, x : x + 1] = combine(image[y, x : x + 1], row[:1])
    assert np.array_equal(surface.numpy(), image)


@pytest.mark.parametrize("x", [-4, 64])
def test_a_trap_ends_the_launch(device, x):
    surface = device.texture(np.zeros((4, 16), np.uint32))
    at = np.zeros((THREADS, 4), np.int32)
    at[40, 0] = x
    text = kernel("suld.b.2d.b32.trap %w0, AT;", "2d")
    target = device.array(np.zeros((THREADS, 4), np.uint32))
    with pytest.raises(lockstep.LockstepError, match="outside the surface"):
        device.load_ptx(text)["k"][1, THREADS](surface, device.array(at), target)


def test_sizes(device):
    surface = device.texture(np.zeros((3, 4, 16), np.uint32), layered=True)
    fields = {"width": 16, "height": 4, "array_size": 3}
    body = "".join(
        f"suq.{name}.b32 %w0, [%s]; st.global.b32 [%out+{4 * k}], %w0;"
        for k, name in enumerate(fields)
    )
    target = device.array(np.zeros((THREADS, 4), np.int32))
    source = device.array(np.zeros((THREADS, 4), np.int32))
    device.load_ptx(kernel(body, "1d"))["k"][1, THREADS](surface, source, target)
    assert list(target.numpy()[0, :3]) == list(fields.values())

"""Textures and surfaces from machine code: the same bits as from the PTX that it was made of."""

import numpy as np
import pytest

import lockstep
from cubin_files import cubins
from lockstep.errors import LockstepError

ARCHITECTURES = (70, 75, 80, 90)
THREADS = 96
WIDTH, HEIGHT, DEPTH = 16, 8, 4
FILES = cubins("textures")  # the PTX of textures.cu, and its cubins by architecture


def kernels():
    text = FILES["ptx"].decode()
    return [line.split()[-1].rstrip("(") for line in text.splitlines() if ".entry" in line]


@pytest.fixture(scope="module")
def device():
    with lockstep.Device("QV100") as device:
        yield device


@pytest.fixture(scope="module")
def modules(device):
    """The PTX and each cubin, loaded."""
    own = {a: device.load_cubin(FILES[f"sm_{a}"]) for a in ARCHITECTURES}
    return {"ptx": device.load_ptx(FILES["ptx"].decode()), **own}


def shape_of(name):
    layered = "layered" in name
    if "cube" in name:
        return (12 if layered else 6, HEIGHT, HEIGHT), layered
    if "3d" in name:
        return (DEPTH, HEIGHT, WIDTH), False
    rows = (HEIGHT, WIDTH) if "1d" not in name else (WIDTH,)
    return ((DEPTH, *rows), True) if layered else (rows, False)


def halves_of(extents, shape, slices=False):
    """Extents of the further levels of detail."""
    axes = range(1 if slices else 0, len(shape))
    while max(extents[a] for a in axes) > 1:
        extents = tuple(max(n // 2, 1) if k in axes else n for k, n in enumerate(extents))
        yield extents


def textures_of(device, name, seed):
    """Three textures, or surfaces, that fit a kernel."""
    rng = np.random.default_rng(seed)
    shape, layered = shape_of(name)
    channels = next((int(n) for n in "24" if n in name.split("_")[-1]), 1)
    channels = 4 if name.startswith(("one", "many")) else channels
    surface, whole = "surf" in name, any(t in name for t in ("int", "uchar4"))
    options = {"channels": channels, "layered": layered, "cube": "cube" in name}
    extents = (*shape, channels) if channels > 1 else shape
    sliced = layered or "cube" in name
    made = []
    for k in range(3):
        if surface:
            values = rng.integers(0, 1 << 32, extents, np.uint32)
        elif whole:
            values = rng.integers(-100, 100, extents, np.int32 if "int" in name else np.int8)
        else:
            values = rng.random(extents, np.float32)
            options["filter"] = ("linear", "point", "linear")[k]
            options["address"] = ("clamp", "wrap", "border")[k]
            options["normalized"] = k == 1
            if "lod" in name or "grad" in name:
                options |= {"normalized": True, "level_filter": "linear" if k < 2 else "point"}
                options["levels"] = [
                    rng.random(e, np.float32) for e in halves_of(extents, shape, sliced)
                ]
        made.append(device.texture(values, **options))
    return made


def places_of(name, seed):
    """Coordinates: some outside; in trapping kernels none."""
    rng = np.random.default_rng(seed)
    sizes = np.array([WIDTH, HEIGHT, DEPTH, DEPTH])
    if name.startswith(("fetch", "one_fetch", "many_fetch", "surf")) or "surf" in name:
        low, high = (0, 0) if "Trap" in name else (-2, 2)
        at = rng.integers(low, sizes + high, (THREADS, 4)).astype(np.int32)
        if "surf" in name:
            at[:, 0] *= 4
            at[:, 0] &= -16 if "Trap" in name else -4
        return at.view(np.uint32)
    at = (rng.integers(-64, 64 * (sizes + 1), (THREADS, 4)) / 64).astype(np.float32)
    if "cube" in name:
        at[:, :3] = rng.uniform(-2, 2, (THREADS, 3))
    if any(part in name for part in ("lod", "grad")):
        at = at_level(name, at, rng)
    words = at.view(np.uint32).copy()
    if "layered" in name:
        words[:, 3] = rng.integers(0, DEPTH + 2, THREADS)
    return words


def at_level(name, at, rng):
    """Coordinates from 0 to 1, or directions; and levels, or gradients, behind them."""
    axes = 3 if "3d" in name or "cube" in name else 1 if "1d" in name else 2
    if "cube" not in name:
        at[:, :axes] /= WIDTH
    low, high = (-1, 5) if "lod" in name else (0.01, 0.9)
    at[:, axes:] = rng.uniform(low, high, (THREADS, 4 - axes))
    return at


def results(device, module, name):
    """What a kernel gives, and what is in the surface afterwards."""
    made = textures_of(device, name, 1)
    at = device.array(places_of(name, 2))
    out = device.array(np.arange(THREADS * 4, dtype=np.uint32).reshape(THREADS, 4) * 0x01030507)
    first = device.array(np.array([t.handle for t in made], np.int64))
    module[name][1, THREADS](first if name.startswith(("one", "many")) else made[0], at, out)
    return out.numpy(), made[0].numpy()


def spread():
    """Each kernel on one architecture, in turn."""
    for k, name in enumerate(kernels()):
        yield pytest.param(ARCHITECTURES[k % 4], name, id=f"{name}-sm_{ARCHITECTURES[k % 4]}")


@pytest.mark.parametrize("architecture, name", list(spread()))
def test_machine_code_reads_and_writes_as_its_ptx(device, modules, architecture, name):
    got, left = results(device, modules[architecture], name)
    expected, written = results(device, modules["ptx"], name)
    if "cube" in name:  # machine code divides by the longest axis before, and not exactly
        pair = (a.view(np.float32) for a in (got, expected))
        assert np.isclose(*pair, rtol=0, atol=0.02).all(1).mean() > 0.95
    else:
        assert got.tobytes() == expected.tobytes()
    assert left.tobytes() == written.tobytes()
    assert got.any()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_trap_and_a_wrong_handle_end_the_launch(device, modules, architecture):
    surface = device.texture(np.zeros((HEIGHT, WIDTH), np.uint32))
    at = device.array(np.array([[0, HEIGHT, 0, 0]], np.int32))
    out = device.zeros(4, np.uint32)
    kernel = modules[architecture]["surf2d_uchar4_Trap"]
    with pytest.raises(LockstepError, match=r"outside the surface.*SULD"):
        kernel[1, 1](surface, at, out)
    with pytest.raises(LockstepError, match="no texture or surface has the handle 0x1234"):
        kernel[1, 1](0x1234, at, out)


@pytest.mark.parametrize("architecture", ["ptx", *ARCHITECTURES])
def test_textures_have_addresses_in_time(architecture):
    name = "tex2d_float4"
    with lockstep.Device("QV100", timing=True) as device:
        load = device.load_ptx if architecture == "ptx" else device.load_cubin
        key = architecture if architecture == "ptx" else f"sm_{architecture}"
        kernel = load(FILES[key].decode() if architecture == "ptx" else FILES[key])[name]
        texture = textures_of(device, name, 1)[0]
        at = np.zeros((THREADS, 4), np.float32)
        at[:, 0] = np.arange(THREADS) % WIDTH + 0.5  # a warp reads two rows of 16 elements
        at[:, 1] = np.arange(THREADS) // WIDTH + 0.5
        launch = kernel[1, THREADS](texture, device.array(at), device.zeros((THREADS, 4), "u4"))
        assert launch.metrics["sim__texture_requests.sum"] == THREADS // 32
        sectors = launch.metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]
        assert sectors == 16 * THREADS // 32 + 16 * THREADS // 32  # coordinates, and elements

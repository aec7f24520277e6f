"""Forms of texture and surface instructions that only PTX gives: machine code does as its PTX."""

import numpy as np
import pytest

import lockstep
from cubin_files import FOLDER, cubins

ARCHITECTURES = (70, 75, 80, 90)
THREADS = 64
WIDTH, HEIGHT, DEPTH = 12, 6, 4
PTX = (FOLDER / "texture_forms.ptx").read_text()
KERNELS = [line.split("(")[0].split()[-1] for line in PTX.splitlines() if ".entry" in line]


@pytest.fixture(scope="module")
def device():
    with lockstep.Device("QV100") as device:
        yield device


@pytest.fixture(scope="module")
def modules(device):
    """The PTX and each cubin, loaded."""
    own = {a: device.load_cubin(cubins("texture_forms")[f"sm_{a}"]) for a in ARCHITECTURES}
    return {"ptx": device.load_ptx(PTX), **own}


def texture_of(device, name):
    rng = np.random.default_rng(3)
    layered = "layered" in name
    shape = (DEPTH, HEIGHT, WIDTH)
    shape = shape[2:] if "1d" in name else shape if "3d" in name or layered else shape[1:]
    if "surface" in name:
        if "formatadd" in name or "min" in name or "add" in name:
            return device.texture(rng.integers(-1000, 1000, shape, np.int32))
        return device.texture(rng.integers(-9, 9, (*shape, 4), np.int16), channels=4)
    values = rng.random((*shape, 4), np.float32)
    options = {}
    if "level" in name or "layered" in name:
        halves = [tuple(max(n >> k, 1) for n in shape) for k in (1, 2)]
        if layered:
            halves = [(DEPTH, *half[1:]) for half in halves]
        options["levels"] = [rng.random((*half, 4), np.float32) for half in halves]
    return device.texture(
        values, "linear", "mirror", normalized=True, channels=4, layered=layered, **options
    )


def run(device, module, name):
    """What a kernel gives, and what is in the surface afterwards."""
    rng = np.random.default_rng(4)
    texture = texture_of(device, name)
    where = rng.integers(-64, 192, (THREADS, 4)).astype(np.float32) / 64
    if any(part in name for part in ("surface", "whole", "sizes")):
        where = rng.integers(-1, (WIDTH + 1, HEIGHT + 1, 4, 4), (THREADS, 4)).astype(np.int32)
        where[:, 0] = rng.permutation(THREADS) % (WIDTH + 2) - 1
        where = where.view(np.float32)
    given = rng.integers(-70000, 70000, (THREADS, 4)).astype(np.int32)
    out, at = device.array(given), device.array(where)
    table = device.array(np.array([texture.handle], np.int64))
    module[name][1, THREADS](table if name.startswith("apart") else texture, at, out)
    return out.numpy(), texture.numpy(), given, texture_of(device, name).numpy()


@pytest.mark.parametrize("name", KERNELS)
def test_a_form_does_as_its_ptx(device, modules, name):
    expected, written, given, before = run(device, modules["ptx"], name)
    if "surface" in name:
        assert not np.array_equal(written, before)
    else:
        assert not np.array_equal(expected, given)
    *others, last = ARCHITECTURES
    for architecture in (others[KERNELS.index(name) % len(others)], last):
        got, left, _, _ = run(device, modules[architecture], name)
        assert got.tobytes() == expected.tobytes()
        assert left.tobytes() == written.tobytes()

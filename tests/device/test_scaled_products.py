"""FMUL.D2 and its kin: the scaled product is rounded once. ``cubins/products.cu``, bits changed."""

from pathlib import Path

import numpy as np
import pytest

import lockstep
from cubin_files import cubins
from lockstep.isa.sass.binary import read_cubin
from lockstep.isa.sass.encoding import BYTES, disassemble

GPUS = {"sm_75": "RTX2060", "sm_80": "A100", "sm_90": "H100"}
SCALES = {
    "D8": (1, 0.125),
    "D4": (2, 0.25),
    "D2": (3, 0.5),
    "M2": (5, 2),
    "M4": (6, 4),
    "M8": (7, 8),
}
PLACE = 84  # of the scale, 3 bits
LEAST = np.finfo(np.float32).tiny
EDGES = [0, 1, 3.7, LEAST, LEAST * 1.5, LEAST / 4, 1e-45, 1e38, 3e38, np.inf, np.nan, 0.3, 1e-20]


def scaled(build, code):
    """The cubin with another scale in all its products."""
    data, architecture = cubins("products")[build], int(build[3:])
    for function in read_cubin(data, Path(build)).kernels:
        for i in disassemble(function.code, architecture):
            if i.mnemonic == "FMUL":
                word = i.word & ~(7 << PLACE) | code << PLACE
                old, new = (w.to_bytes(BYTES, "little") for w in (i.word, word))
                assert data.count(old) >= 1
                data = data.replace(old, new)
    return data


def rounded(exact, towards_zero):
    """Doubles as f32."""
    with np.errstate(over="ignore"):
        near = exact.astype(np.float32)
    if not towards_zero:
        return near
    above = np.abs(near.astype(float)) > np.abs(exact)
    return np.where(above, np.nextafter(near, np.float32(0)), near)


def flushed(values):
    return np.where(np.abs(values) < LEAST, np.copysign(np.float32(0), values), values)


@pytest.fixture(scope="module", params=GPUS)
def device(request):
    with lockstep.Device(GPUS[request.param], timing=False) as device:
        yield device, request.param


@pytest.mark.long
@pytest.mark.parametrize("scale", SCALES)
def test_the_scaled_product_is_rounded_once(device, scale):
    device, build = device
    code, factor = SCALES[scale]
    module = device.load_cubin(scaled(build, code))
    edges = np.array([*EDGES, *(-v for v in EDGES)], np.float32)
    x, y = (v.ravel() for v in np.meshgrid(edges, edges))
    with np.errstate(invalid="ignore"):
        exact = x.astype(float) * y.astype(float) * factor
        constant = x.astype(float) * float(np.float32(3.7)) * factor
        small = flushed(x).astype(float) * flushed(y).astype(float) * factor
    expected = {
        "nearest": rounded(exact, False),
        "to_zero": rounded(exact, True),
        "flushed": flushed(rounded(small, False)),
        "saturated": np.nan_to_num(np.clip(rounded(exact, False), 0, 1)),
        "by_a_number": rounded(constant, False),
    }
    there = [device.array(v) for v in (x, y)]
    for name, want in expected.items():
        out = device.zeros(x.size, "f4")
        module[name][x.size // 26, 26](out, *there)
        np.testing.assert_array_equal(out.numpy(), want, f"{name}.{scale}")


def test_a_scale_that_does_not_exist_is_refused():
    with lockstep.Device("A100", timing=False) as device:
        module = device.load_cubin(scaled("sm_80", 0))
        with pytest.raises(lockstep.LockstepError, match=r"INVALID0.* is not supported"):
            module["nearest"][1, 26](*[device.zeros(26, "f4")] * 3)

"""Triton's machine code: the kernels of ``scripts/sass_triton.py`` against NumPy.

Those of sm_90, whose warpgroups multiply, and the ones that have run on an H100.
"""

import json
import tarfile

import numpy as np
import pytest

import lockstep
from cubin_files import cubins

SCRATCH = (0, 0)  # pointers that Triton adds to the arguments


@pytest.fixture(scope="module")
def device():
    with lockstep.Device("A100", timing=False) as device:
        yield device


@pytest.fixture(scope="module")
def hopper():
    with lockstep.Device("H100", timing=False) as device:
        yield device


@pytest.fixture(params=["device", "hopper"])
def either(request):
    return request.getfixturevalue(request.param)


def launch(device, name, grid, *arguments):
    program = cubins("triton_hopper" if device.gpu.name == "H100" else "triton")[name]
    kernel = device.load_cubin(program["cubin"])[name]
    kernel[grid, program["threads"], program["shared"]](*arguments, *SCRATCH)


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def test_softmax(device):
    x = np.random.default_rng(0).normal(0, 4, (3, 200)).astype(np.float32)
    out = device.zeros(x.shape)
    launch(device, "softmax", 3, device.array(x), out, 200)
    np.testing.assert_allclose(out.numpy(), softmax(x.astype(float)), 1e-5, 1e-8)


def test_layer_norm(device):
    rng = np.random.default_rng(1)
    x = rng.normal(2, 3, (3, 250)).astype(np.float16)
    w, b = rng.normal(size=(2, 250)).astype(np.float32)
    out, there = device.zeros(x.shape, "f2"), [device.array(v) for v in (x, w, b)]
    launch(device, "layer_norm", 3, there[0], out, *there[1:], 250, np.float32(1e-5))
    wide = x.astype(float)
    scaled = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(out.numpy(), scaled * w + b, 2e-3, 2e-3)


@pytest.mark.long
@pytest.mark.parametrize("m, n, k", [(64, 64, 64), (128, 64, 90)])
def test_matmul(either, m, n, k):
    device = either
    rng = np.random.default_rng(2)
    a, b = (rng.normal(size=shape).astype(np.float16) for shape in ((m, k), (k, n)))
    out = device.zeros((m, n), "f2")
    a_there, b_there, grid = device.array(a), device.array(b), (m // 64, n // 64)
    launch(device, "matmul", grid, a_there, b_there, out, m, n, k, k, n, n)
    expected = a.astype(float) @ b.astype(float)
    np.testing.assert_allclose(out.numpy(), expected, 2e-3, 2e-3)


@pytest.mark.long
def test_a_factor_read_in_halves_of_words_has_no_findings():
    with lockstep.Device("H100", timing=False, check="all") as device:
        test_matmul(device, 64, 64, 64)
        assert not list(device.findings)


@pytest.mark.long
def test_flash_attention(either):
    device = either
    rng = np.random.default_rng(3)
    q, k, v = (rng.normal(size=(128, 64)).astype(np.float16) for _ in range(3))
    out = device.zeros(q.shape, "f2")
    scale = 0.125 / np.log(2)  # of powers of two
    launch(device, "attention", 2, *map(device.array, (q, k, v)), out, 128, np.float32(scale))
    scores = q.astype(float) @ k.astype(float).T * 0.125
    np.testing.assert_allclose(out.numpy(), softmax(scores) @ v.astype(float), 4e-3, 4e-3)


@pytest.fixture(scope="module")
def measured(shared):
    """Reads files of the kernels that ran on an H100."""
    with tarfile.open(shared / "data/h100-sxm/triton/kernels.tar.gz") as archive:
        yield lambda name: archive.extractfile(name).read()


def on_an_h100(device, measured, name, *arrays):
    """Launch as it was launched there, pointers to arrays first."""
    [case] = [c for c in json.loads(measured("index.json")) if c["name"] == name]
    kernel = device.load_cubin(measured(f"{name}.cubin"))[case["kernel"]]
    numbers = [a if isinstance(a, int) else np.float32(a) for a in case["args"][len(arrays) :]]
    metadata = case["metadata"]
    configured = kernel[tuple(case["grid"]), metadata["num_warps"] * 32, metadata["shared"]]
    configured(*arrays, *numbers, *SCRATCH)


@pytest.mark.long
@pytest.mark.parametrize("size, shape", [(256, "64x64x32w4s3"), (512, "128x128x64w4s3")])
def test_matmul_that_ran_on_an_h100(hopper, measured, size, shape):
    rng = np.random.default_rng(4)
    a, b = (rng.normal(size=(size, size)).astype(np.float16) for _ in "ab")
    out = hopper.zeros((size, size), "f2")
    arrays = (hopper.array(a), hopper.array(b), out)
    on_an_h100(hopper, measured, f"matmul-{size}x{size}x{size}-{shape}", *arrays)
    expected = a.astype(float) @ b.astype(float)
    np.testing.assert_allclose(out.numpy(), expected, 1e-3, 1e-3 * np.sqrt(size))


@pytest.mark.long
def test_attention_that_ran_on_an_h100(hopper, measured):
    rng = np.random.default_rng(5)
    q, k, v = (rng.normal(size=(4, 512, 64)).astype(np.float16) for _ in "qkv")
    out = hopper.zeros(q.shape, "f2")
    on_an_h100(hopper, measured, "attention-4x512-64x64w4", *map(hopper.array, (q, k, v)), out)
    scores = q.astype(float) @ k.astype(float).transpose(0, 2, 1) * 0.125
    np.testing.assert_allclose(out.numpy(), softmax(scores) @ v.astype(float), 4e-3, 4e-3)

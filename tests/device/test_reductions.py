"""What a GPU practically never gets wrong, though two warps race: ``cubins/reductions.cu``."""

import numpy as np
import pytest

import lockstep
from cubin_files import load


@pytest.fixture(scope="module", params=["sm_80", "sm_90", "ptx"])
def module(request):
    with lockstep.Device("H100") as device:
        yield load(device, "reductions", request.param)


def rows(size):
    return np.random.default_rng(size).random((3, size), np.float32) - 0.5


@pytest.mark.long
@pytest.mark.parametrize("threads", [64, 128, 512])
def test_a_row_is_normalised(module, threads):
    x = rows(768)
    given, out = module.device.array(x), module.device.zeros(x.shape, "f4")
    module["layernorm"][3, threads](given, out, 768)
    mean, variance = x.mean(1, keepdims=True), x.var(1, keepdims=True)
    np.testing.assert_allclose(out.numpy(), (x - mean) / np.sqrt(variance + 1e-5), atol=1e-4)
    x = rows(threads)
    given, out = module.device.array(x), module.device.zeros(x.shape, "f4")
    module["rmsnorm"][3, threads](given, out, threads)
    square = (x * x).mean(1, keepdims=True)
    np.testing.assert_allclose(out.numpy(), x / np.sqrt(square + 1e-5), atol=1e-4)


@pytest.mark.long
@pytest.mark.parametrize("warps", range(1, 33))
def test_sums_follow_each_other_at_once(module, warps):
    threads = 32 * warps
    out = module.device.zeros(threads, "f4")
    module["repeated"][1, threads](out)
    v, total = np.arange(threads, dtype=np.float64), np.zeros(threads)
    for k in range(6):
        s = (v + k).sum()
        total += s
        v = v + s / threads
    np.testing.assert_allclose(out.numpy(), total, rtol=1e-5)


@pytest.mark.parametrize("warps", [1, 3, 8, 32])
def test_a_flag_is_read_by_all_before_it_is_cleared(module, warps):
    out = module.device.zeros(32 * warps, "i4")
    module["rounds"][1, 32 * warps](out)
    assert set(out.numpy()) == {3 * (warps - 1)}


@pytest.mark.parametrize("warps", [2, 5, 32])
def test_values_in_global_memory_are_read_before_they_are_written(module, warps):
    threads = 32 * warps
    values = module.device.array(np.arange(threads, dtype=np.uint32))
    out = module.device.zeros(threads, "u4")
    module["shifted"][1, threads](values, out)
    v, total = np.arange(threads), np.zeros(threads, np.int64)
    for k in range(5):
        there = np.roll(v, -32)
        v, total = there + k, total * 5 + there
    np.testing.assert_array_equal(out.numpy(), total)


def test_the_blocks_of_a_cluster_read_before_they_go_on(module):
    if "cluster_sums" not in module.entries:
        return
    out = module.device.zeros(8 * 64, "u4")
    module["cluster_sums"][8, 64](out)
    total = 0
    for k in range(4):
        for rank in range(4):
            total = total * 3 + rank + 10 * k + 1
    assert set(out.numpy()) == {total}

"""CuPy, whose extension modules hold the CUDA runtime: where it is installed."""

import importlib.util
import sys

import pytest

from lockstep.runtime import run_program

SCRIPT = """
import cupy, numpy

host = numpy.random.default_rng(0).integers(0, 1000, 5000).astype(numpy.int32)
on_gpu = cupy.asarray(host)
kernel = cupy.RawKernel('extern "C" __global__ void f(int *a) { a[threadIdx.x] += 1; }', "f")
more = on_gpu.copy()
kernel((1,), (64,), (more,))
found = [cupy.sort(on_gpu), on_gpu.sum(), cupy.cumsum(on_gpu)[::2], on_gpu[on_gpu > 500], more[:64]]
wanted = [numpy.sort(host), host.sum(), numpy.cumsum(host)[::2], host[host > 500], host[:64] + 1]
print(all(numpy.array_equal(cupy.asnumpy(a), b) for a, b in zip(found, wanted)))
"""


@pytest.mark.long
@pytest.mark.skipif(importlib.util.find_spec("cupy") is None, reason="needs cupy, and it is absent")
def test_arrays_and_kernels_are_those_of_numpy(make_simulator, capfd):
    simulator = make_simulator()
    assert run_program(simulator, [sys.executable, "-c", SCRIPT]).code == 0
    assert capfd.readouterr() == ("True\n", "")
    assert simulator.launches > 5

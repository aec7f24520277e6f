"""The benchmark kernels are as long as the traces whose cost in Accel-Sim was measured."""

import importlib.util
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
# Warp instructions that ../shared/tools/gen_traces.py prints for its traces.
LENGTHS = {
    "vecadd-512x256": 81_920,
    "ffma-160x256": 2_696_960,
    "gemm-256": 882_688,
    "gather-256x256": 243_712,
    "vecadd-4096x256": 655_360,
    "gemm-512": 7_036_928,
}


@pytest.fixture(scope="module")
def kernels():
    spec = importlib.util.spec_from_file_location("kernels", BENCHMARKS / "kernels.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.KERNELS


@pytest.mark.parametrize("name", LENGTHS)
def test_every_cta_executes_its_share(kernels, name):
    (kernel,) = kernels[name]().kernels
    cta = next(kernel.ctas())
    assert cta.warps["warp_instructions"].sum() * kernel.n_ctas == LENGTHS[name]


def test_the_names_are_those_of_the_reference(kernels):
    assert set(kernels) == set(LENGTHS)
    assert all(make().name == name for name, make in kernels.items())

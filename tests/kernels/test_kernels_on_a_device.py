import pytest

import lockstep
from lockstep.kernels import load, names

MISSING = {
    "bicg", "half_dot", "layernorm", "montecarlo", "reduce_shuffle", "softmax", "spmv",
    "string_search", "texture",
}  # fmt: skip


def marked(name):
    reason = pytest.mark.xfail(strict=True, reason="its instructions are not there yet")
    return pytest.param(name, marks=reason if name in MISSING else ())


@pytest.mark.parametrize("name", [marked(name) for name in names()])
def test_results_are_those_of_numpy(name):
    kernel = load(name)
    with lockstep.Device("QV100") as device:
        checks = kernel.run(device, kernel.small)
        assert checks
        for check in checks:
            check.verify()

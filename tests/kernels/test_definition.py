"""Built-in kernels: how a definition becomes one, and how its results are verified."""

import numpy as np
import pytest

from lockstep.errors import WorkloadError
from lockstep.kernels import Check, WrongResult, blocks, builtin


class Held:
    """Stands for a device array."""

    def __init__(self, *values):
        self.values = np.array(values, np.float32)

    def numpy(self):
        return self.values


class Recorder:
    """Stands for a device: remembers what was loaded."""

    def load_ptx(self, path):
        self.loaded = path
        return "module"


def expects(*values):
    return lambda: np.array(values, np.float32)


@builtin(size=10, small=3, unit="elements", arch="sm_80")
def double(device, module, rng, n):
    """Twice a vector.

    More words.
    """
    device.seen = module, n, rng.random()
    return Check("y", Held(2, 4), expects(2, 4))


def test_equal_values_pass():
    Check("y", Held(1, 2, np.nan), expects(1, 2, np.nan)).verify()


def test_a_difference_within_the_tolerance_passes_and_one_beyond_it_does_not():
    Check("y", Held(100.9), expects(100), rtol=0.01).verify()
    with pytest.raises(WrongResult):
        Check("y", Held(101.1), expects(100), rtol=0.01).verify()


def test_the_absolute_tolerance_counts_near_zero():
    Check("y", Held(0.09), expects(0), atol=0.1).verify()
    with pytest.raises(WrongResult):
        Check("y", Held(0.11), expects(0), atol=0.1).verify()


def test_a_wrong_result_names_the_first_element():
    with pytest.raises(WrongResult, match=r"y: 2 of 3 values differ, first at \(1,\): 5.0, exp"):
        Check("y", Held(1, 5, 6), expects(1, 2, 3)).verify()


def test_a_wrong_shape_is_a_wrong_result():
    with pytest.raises(WrongResult, match="shape"):
        Check("y", Held(1, 1), expects(1)).verify()


def test_a_definition_is_named_and_described_by_its_function():
    assert (double.name, double.summary, double.arch) == ("double", "Twice a vector.", "sm_80")
    assert double.ptx.name == "double.ptx"
    assert double.source.parent == double.program.parent == double.folder


def test_a_run_loads_the_ptx_and_passes_size_and_generator():
    device = Recorder()
    (check,) = double.run(device, 7, seed=3)
    assert device.loaded == double.ptx
    assert device.seen == ("module", 7, np.random.default_rng(3).random())
    check.verify()


def test_the_default_size_is_the_definitions():
    device = Recorder()
    double.run(device)
    assert device.seen[1] == 10


def test_a_size_in_scientific_notation_is_an_integer():
    device = Recorder()
    double.run(device, 1e6)
    assert device.seen[1] == 1_000_000


@pytest.mark.parametrize("size", [0, -5])
def test_a_size_below_one_is_refused(size):
    with pytest.raises(WorkloadError, match="at least 1"):
        double.run(Recorder(), size)


def test_several_checks_come_as_a_tuple():
    @builtin(size=1, small=1, unit="elements")
    def two(device, module, rng, n):
        """Two results."""
        yield Check("a", Held(1), expects(1))
        yield Check("b", Held(2), expects(2))

    assert [check.name for check in two.run(Recorder())] == ["a", "b"]


def test_blocks_cover_all_items():
    assert [blocks(n, 4) for n in (1, 4, 5)] == [1, 1, 2]

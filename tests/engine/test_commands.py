"""What a simulation is given: which kernels run, which are launched, how many CTAs that are."""

import pytest

from lockstep.builder import KernelBuilder
from lockstep.engine.commands import GivenCommands
from lockstep.errors import WorkloadError
from lockstep.host_calls import MemoryCopy
from lockstep.workload.warm import Warming


@pytest.fixture
def kernels():
    """Kernels 1 to 3 of four CTAs each."""
    return [KernelBuilder(f"k{n}", grid=4, block=32).kernel(n) for n in (1, 2, 3)]


def test_kernels_that_were_not_chosen_neither_run_nor_are_launched(kernels):
    given, copy = GivenCommands({1, 3}, {}), MemoryCopy(0, 4)
    commands = [copy, *kernels]
    given.add(commands)
    assert given.commands == commands
    assert given.selected(commands) == [copy, kernels[0], kernels[2]]
    assert given.launches == [kernels[0], kernels[2]]
    assert given.ctas(commands) == 8
    assert not given.runs(copy)


def test_a_warmed_kernel_is_launched_and_does_not_run(kernels):
    given = GivenCommands(None, {})
    commands = [Warming(kernels[0]), kernels[1]]
    given.add(commands)
    assert given.launches == kernels[:2]
    assert given.ctas(commands) == 4


def test_what_is_before_the_first_cta_does_not_count(kernels):
    given = GivenCommands(None, {2: 3})
    assert [given.first_cta(kernel) for kernel in kernels] == [0, 3, 0]
    assert given.ctas(kernels) == 9
    with pytest.raises(WorkloadError, match="none is CTA 4"):
        GivenCommands(None, {1: 4}).ctas(kernels)

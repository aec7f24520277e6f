"""Recording kernels that run: their CTAs end in another order than that of the grid."""

import tempfile
from pathlib import Path

import numpy as np
import pytest

from lockstep.errors import InputError
from lockstep.frontend import tracefile
from lockstep.frontend.tracefile import TraceRecording, build
from lockstep.workload import Workload


def recorded(path, kernels, end):
    """Write what ``end`` does with functions that take the kernels' CTAs; the file's bytes."""
    recording = TraceRecording(path, "name")
    end([recording.running_kernel(kernel) for kernel in kernels])
    recording.close()
    return path.read_bytes()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("target", [1, build.TARGET])
def test_the_order_of_ends_does_not_matter(tmp_path, monkeypatch, small, seed, target):
    """A chunk for each CTA, or one for all; two kernels at a time."""
    monkeypatch.setattr(build, "TARGET", target)
    kernels = small.kernels
    ends = [(k, cta) for k, kernel in enumerate(kernels) for cta in kernel.ctas()]
    np.random.default_rng(seed).shuffle(ends)

    def end(keeps):
        for k, cta in ends:
            keeps[k](cta)

    tracefile.write(Workload("name", kernels), tmp_path / "whole.lst")
    theirs = recorded(tmp_path / "ended.lst", kernels, end)
    assert theirs == (tmp_path / "whole.lst").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ended.lst", "whole.lst"]


def test_a_kernel_that_did_not_end_is_left_out(tmp_path, small):
    def end(keeps):
        *some, _ = small.kernels[0].ctas()
        for cta in some:
            keeps[0](cta)
        for cta in small.kernels[1].ctas():
            keeps[1](cta)

    recorded(tmp_path / "run.lst", small.kernels, end)
    (kernel,) = tracefile.load(tmp_path / "run.lst").kernels
    assert kernel.id == small.kernels[1].id


def full(**_):
    """A temporary file on a disk without room."""
    return open("/dev/full", "w+b", buffering=64)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("backwards", [False, True])
def test_a_full_disk_is_told_by_the_name_of_the_trace(tmp_path, monkeypatch, small, backwards):
    """A CTA that waits for its turn is written aside, others go into a chunk."""
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    recording = TraceRecording(tmp_path / "run.lst", "name")
    kernel = small.kernels[0]
    keep, ctas = recording.running_kernel(kernel), list(kernel.ctas())
    with pytest.raises(InputError, match=r"run\.lst: cannot write: No space left on device"):
        for cta in reversed(ctas) if backwards else ctas:
            keep(cta)
        recording.close()
    recording.discard()
    assert list(tmp_path.iterdir()) == []

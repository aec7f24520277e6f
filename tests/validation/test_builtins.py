"""Builds of the built-in programs beside what was measured of them; a stub simulates."""

from dataclasses import replace

import pytest

from lockstep import kernels
from lockstep.correlation.results import Ours
from lockstep.errors import LockstepError
from lockstep.validation import builtins


@pytest.fixture
def folder(tmp_path):
    for name in ("atax", "bfs", "saxpy"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("size", builtins.SIZES)
def test_every_program_was_measured(size):
    measured = builtins.measured(size)
    assert sorted(measured) == sorted(kernels.names())
    for launches in measured.values():
        assert [launch.number for launch in launches] == list(range(1, len(launches) + 1))
        assert all(launch.metrics.keys() >= set(builtins.COUNTERS) for launch in launches)


def test_programs_are_run_at_both_sizes_and_compared(folder):
    called = []

    def run(program, arguments, gpu):
        called.append((program.name, arguments, gpu))
        launches = builtins.measured("l" if arguments else "s")[program.name]
        if program.name == "saxpy":
            raise LockstepError("it fell over")
        if program.name == "bfs" and not arguments:
            launches = launches[1:]
        twice = [{name: 2 * v for name, v in x.metrics.items()} for x in launches]
        return Ours("x", [replace(x, metrics=m) for x, m in zip(launches, twice)], "here")

    found = builtins.programs(folder, run, lambda text: None, "H100")
    assert called[0] == ("atax", (), "H100") and ("atax", ("1536",), "H100") in called
    assert len(found) == len(builtins.SIZES) * len(builtins.COUNTERS)
    small, large = (c for c in found if c.key.endswith("cycles"))
    assert [f.what for f in small.figures] == ["atax"]
    assert [f.what for f in large.figures] == ["atax", "bfs"]
    assert all(f.error == 1 for f in large.figures)
    assert large.figures[0].measured == 115_124 + 101_449
    assert large.coverage == f"2 of {len(kernels.names())} compared"
    assert "saxpy: it fell over" in large.skipped
    assert "fft: not built" in large.skipped
    assert any(line.startswith("bfs: ") for line in small.skipped)


def test_a_gpu_that_there_is_not_is_refused_before_anything_runs(folder):
    with pytest.raises(LockstepError, match="H900"):
        builtins.programs(folder, None, None, "H900")

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
@pytest.mark.parametrize("state", builtins.STATES)
def test_programs_were_measured_with_all_counters(state, size):
    measured = builtins.measured(state, size)
    if state == "":
        assert sorted(measured) == sorted(kernels.names())
    else:
        assert set(measured) < set(kernels.names()) and len(measured) >= 8
    for launches in measured.values():
        assert [launch.number for launch in launches] == list(range(1, len(launches) + 1))
        counters = set(builtins.STATES[state].counters)
        assert all(launch.metrics.keys() >= counters for launch in launches)


def test_programs_are_run_in_both_states_at_both_sizes_and_compared(folder):
    called = []

    def runner(changes):
        (state,) = (n for n, known in builtins.STATES.items() if (known.change,) == changes)

        def run(program, arguments, gpu):
            called.append((state, program.name, arguments, gpu))
            launches = builtins.measured(state, "l" if arguments else "s")[program.name]
            if program.name == "saxpy":
                raise LockstepError("it fell over")
            if program.name == "bfs" and not arguments:
                launches = launches[1:]
            twice = [{name: 2 * v for name, v in x.metrics.items()} for x in launches]
            return Ours("x", [replace(x, metrics=m) for x, m in zip(launches, twice)], "here")

        return run

    found = {c.key: c for c in builtins.programs(folder, runner, lambda text: None, "H100")}
    assert called[0] == ("", "atax", (), "H100") and ("", "atax", ("1536",), "H100") in called
    assert [c[1] for c in called if c[0] == "cold"] == ["bfs", "saxpy", "saxpy"]
    assert len(found) == 2 * (5 + 7)
    small, large = found["built-in s cycles"], found["built-in l cycles"]
    assert [f.what for f in small.figures] == ["atax"]
    assert [f.what for f in large.figures] == ["atax", "bfs"]
    assert all(f.error == 1 for f in large.figures)
    assert large.figures[0].measured == 115_124 + 101_449
    assert large.coverage == f"2 of {len(kernels.names())} compared"
    assert "saxpy: it fell over" in large.skipped
    assert "fft: not built" in large.skipped
    assert any(line.startswith("bfs: ") for line in small.skipped)
    assert found["built-in cold l L1 sectors loaded"].coverage == "0 of 17 compared"
    assert "syrk: not built" in found["built-in cold l L1 sectors loaded"].skipped


def test_a_gpu_that_there_is_not_is_refused_before_anything_runs(folder):
    with pytest.raises(LockstepError, match="H900"):
        builtins.programs(folder, None, None, "H900")

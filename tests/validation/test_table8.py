"""Builds of published programs: found, given their arguments, and compared; a stub simulates."""

import collections

import pytest

from lockstep.correlation.launches import CYCLES, Launch
from lockstep.correlation.results import Ours
from lockstep.errors import InputError, LockstepError
from lockstep.validation import runs, table8


@pytest.fixture
def builds(tmp_path):
    """Function that makes an executable."""

    def make(name):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\nexit 3\n")
        path.chmod(0o755)
        return path

    make.folder = tmp_path
    return make


def simulated(*cycles):
    """A result of launches that took so long."""
    launches = [Launch("p", "k", n, {CYCLES: c}) for n, c in enumerate(cycles, 1)]
    return Ours("p", launches, "here")


def test_the_table_is_whole():
    rows = table8.published()
    assert len(rows) == len({(row.suite, row.workload) for row in rows}) == 71
    suites = collections.Counter(row.suite for row in rows)
    assert suites == {
        "cudasdk": 10, "rodinia-3.1": 13, "parboil": 8, "polybench": 10, "microbench": 10,
        "cutlass-wmma": 10, "cutlass-sgemm": 10,
    }  # fmt: skip
    known = {row.name: row for row in rows}
    assert known["rodinia-3.1/neddle"].program == "nw"
    assert known["rodinia-3.1/neddle"].arguments == ("2048", "10")
    assert known["polybench/atax"].arguments == ()
    assert known["polybench/atax"].peer_error == -0.23
    assert known["cutlass-wmma/wmma-2560x16x2560"].arguments[:2] == ("--m=2560", "--n=16")
    assert sum(row.arguments is None for row in rows) == 10


def test_the_table_is_the_published_one(shared):
    published = table8.read_table(
        shared / "data/hardware/v100_accelsim_table8.csv", lambda c: False
    )
    rows = [(r["suite"], r["workload"], int(r["hw_cycles"])) for r in published.records()]
    assert [(row.suite, row.workload, row.cycles) for row in table8.published()] == rows


def test_builds_are_run_with_their_arguments(builds):
    flat, nested = builds("rodinia-3.1/nw"), builds("polybench/atax/ATAX")
    builds("parboil/sad")
    builds("elsewhere/scan")
    called, said = [], []

    def run(program, arguments, gpu):
        assert gpu == "QV100"
        called.append((program, arguments))
        return simulated(1_000_000, 2_000_000)

    found = table8.programs(builds.folder, run, said.append)
    assert called == [(flat, ("2048", "10")), (nested, ())]
    assert said == ["rodinia-3.1/neddle: nw 2048 10", "polybench/atax: ATAX"]
    assert [f.what for f in found.figures] == ["rodinia-3.1/neddle", "polybench/atax"]
    assert found.figures[0].error == pytest.approx(3_000_000 / 3_016_000 - 1)
    assert found.coverage == "2 of 71 compared"
    assert "Accel-Sim on the same: mean 19.50 %" in found.summary()
    assert "cudasdk/scan: no cudasdk/scan" in found.skipped
    (unknown,) = (line for line in found.skipped if line.startswith("parboil/sad"))
    assert "arguments are not published" in unknown


def test_own_arguments_go_first(builds):
    builds("parboil/sad")
    text = "suite,workload,arguments\nparboil,sad,\"-i 'a b' -o out\"\n"
    (builds.folder / "arguments.csv").write_text(text)
    called = []
    table8.programs(
        builds.folder, lambda p, a, gpu: called.append(a) or simulated(1), lambda text: None
    )
    assert called == [("-i", "a b", "-o", "out")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("suite,workload\n", "has no column arguments"),
        ("suite,workload,arguments\nparboil,x,y\n", "line 2: parboil/x is not in Table VIII"),
        ("suite,workload,arguments\nparboil,sad,'\n", "line 2: arguments: No closing quotation"),
    ],
)
def test_wrong_arguments_are_refused(builds, text, problem):
    (builds.folder / "arguments.csv").write_text(text)
    with pytest.raises(InputError, match=problem):
        table8.own_arguments(builds.folder)


def test_what_fails_is_named_and_the_others_run(builds):
    builds("polybench/atax")
    builds("polybench/mvt")

    def run(program, arguments, gpu):
        if program.name == "atax":
            raise LockstepError("it fell over")
        return simulated(1)

    found = table8.programs(builds.folder, run, lambda text: None)
    assert [f.what for f in found.figures] == ["polybench/mvt"]
    assert "polybench/atax: it fell over" in found.skipped
    assert found.peer[1] == [-0.23]


def test_a_program_without_kernels_is_an_error_of_one_line(builds):
    program = builds("polybench/atax")
    with pytest.raises(LockstepError) as caught:
        runs.simulated(1)(program, (), "QV100")
    assert str(caught.value) and "\n" not in str(caught.value)

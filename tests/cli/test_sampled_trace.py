"""Sampling a trace on the command line: profile, sample, simulate --timing, convert --plan."""

import csv
import json
import os

import pytest

from lockstep import api
from lockstep.builder import KernelBuilder, program

SMALL = ("--gpu", "QV100", "--set", "sm.count=4")


@pytest.fixture
def many(tmp_path):
    """A trace of twelve kernels of two names in the working directory, in both formats."""
    kernels = []
    for number in range(12):
        k = KernelBuilder(f"k{number % 2}", grid=4 + number % 2, block=64)
        with k.loop(2 + number % 3):
            k("LDG.E R4, [R2]", address=k.coalesced(0x7F0000000000 + 4096 * number))
        kernels.append(k)
    workload = program(*kernels, name="many")
    api.save(workload, tmp_path / "many.lst")
    api.save(workload, tmp_path / "many")


@pytest.fixture(params=["many.lst", "many", "many/kernelslist.g"])
def planned(request, call, many):
    """The name of a trace, of which ``plan.json`` is a plan."""
    assert call("profile", request.param, "--level", "0", "-o", "a.csv", "-q").exit_code == 0
    options = ("--method", "systematic", "--option", "every=3", "-o", "plan.json")
    done = call("sample", "a.csv", *options)
    assert done.exit_code == 0, done.output
    return request.param


def plan_in(folder):
    return json.loads((folder / "plan.json").read_text())


def test_what_a_plan_chooses_of_a_trace_is_simulated(call, planned, tmp_path):
    plan = plan_in(tmp_path)
    done = call("simulate", planned, *SMALL, "--timing", "plan:plan.json", "--json", "r.json")
    assert done.exit_code == 0, done.output
    assert f"Estimated from {len(plan['chosen'])} of 12 launches: " in done.stdout
    found = json.loads((tmp_path / "r.json").read_text())
    assert [k["id"] for k in found["kernels"]] == [number + 1 for number in plan["chosen"]]
    assert found["estimate"]["observed"]["launch"] == plan["chosen"]
    cold = call(
        "simulate", planned, *SMALL, "--timing", "plan:plan.json,warm=none", "--json", "c.json"
    )
    assert cold.exit_code == 0, cold.output
    ids = ",".join(str(number + 1) for number in plan["chosen"])
    same = call("simulate", planned, *SMALL, "--kernels", ids, "--json", "s.json")
    assert same.exit_code == 0
    cold, same = (json.loads((tmp_path / f"{n}.json").read_text()) for n in "cs")
    assert cold["run"]["result_hash"] == same["run"]["result_hash"]


def test_a_sample_needs_no_plan(call, many):
    done = call("simulate", "many.lst", *SMALL, "--timing", "sample:2", "--summary", "short")
    assert done.exit_code == 0, done.output
    assert "of 12 launches: " in done.stdout


def test_a_part_of_each_chosen_kernel(call, many, tmp_path):
    options = ("--timing", "sample:2", "--inside", "windows:speed_up=2", "--json", "r.json")
    done = call("simulate", "many.lst", *SMALL, *options)
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "r.json").read_text())["estimate"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--timing", "none"), "--timing none: of a trace there is nothing else to be done"),
        (("--timing", "sample:2", "--kernels", "1"), "--timing and --kernels: both choose"),
        (("--timing", "sample:2", "--checkpoint-dir", "d"), "--timing and --checkpoint-dir: "),
        (("--timing", "sample:2", "--resume", "d"), "--timing and --resume: "),
        (("--timing", "sample:2", "--plot", "p.png"), "--timing and --plot: "),
        (("--timing", "sample:2", "--outside", "unix:s"), "--timing and --outside: "),
        (("--timing", "sample:2", "--what-if"), "--timing and --what-if: "),
        (("--timing", "plan:nothing.json"), "nothing.json: cannot read"),
        (("--timing", "plan:nothing.json,warm=some"), "nothing.json,warm=some: cannot read"),
        (("--timing", "half"), "expected full, none, sample:error=1%"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(call, many, options, message):
    done = call("simulate", "many.lst", *SMALL, *options)
    assert done.exit_code == 2, done.output
    (line,) = done.stderr.splitlines()
    assert message in line


def test_a_plan_for_another_trace_is_refused_before_the_simulation(call, planned, trace):
    done = call("simulate", trace, *SMALL, "--timing", "plan:plan.json")
    assert done.exit_code == 2
    assert done.stderr == "lockstep: the plan is for 12 launches, and there are 2: profile again\n"


def test_a_run_that_ended_early_has_no_estimate(call, planned):
    limit = ("--timing", "plan:plan.json", "--limit-cycles", "6000")
    done = call("simulate", planned, *SMALL, *limit)
    assert done.exit_code == 1, done.output
    assert "Estimated" not in done.stdout and "ended early" in done.stderr


def test_the_list_that_a_plan_chooses_for_accelsim(call, planned, tmp_path):
    plan = plan_in(tmp_path)
    done = call("convert", planned, "list", "--plan", "plan.json")
    assert done.exit_code == 0, done.output
    assert done.stderr == f"list: {len(plan['chosen'])} of 12 kernels\n"
    names = (tmp_path / "list" / "kernelslist.g").read_text().split()
    with open(tmp_path / "list" / "weights.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["kernel"] for row in rows] == names
    assert [int(row["launch"]) for row in rows] == plan["chosen"]
    assert sum(float(row["weight"]) for row in rows) == 12
    chosen = call("simulate", "list", *SMALL, "--json", "l.json")
    assert chosen.exit_code == 0, chosen.output
    ids = ",".join(str(number + 1) for number in plan["chosen"])
    assert call("simulate", "many", *SMALL, "--kernels", ids, "--json", "s.json").exit_code == 0
    found, same = (json.loads((tmp_path / f"{n}.json").read_text()) for n in "ls")
    cycles = [[k["cycles"] for k in each["kernels"]] for each in (found, same)]
    assert cycles[0] == cycles[1]


def test_live_points_of_a_trace(call, planned, tmp_path):
    plan = plan_in(tmp_path)
    done = call("convert", planned, "points.lst", "--plan", "plan.json", "--l2", "1MB")
    assert done.exit_code == 0, done.output
    assert done.stderr == f"points.lst: {len(plan['chosen'])} of 12 kernels\n"
    done = call("simulate", "points.lst", *SMALL, "--set", "l2.ways=4", "--json", "p.json")
    assert done.exit_code == 0, done.output
    assert f"Estimated from {len(plan['chosen'])} of 12 launches" in done.stdout
    found = json.loads((tmp_path / "p.json").read_text())["estimate"]
    assert found["observed"]["launch"] == plan["chosen"]


def test_links_to_the_files_of_a_trace(call, planned, tmp_path):
    done = call("convert", planned, "links", "--plan", "plan.json", "--link")
    if planned.endswith(".lst"):
        assert done.exit_code == 2
        assert "many.lst is one file: there are no files of kernels to link to" in done.stderr
        assert not (tmp_path / "links").exists()
        return
    assert done.exit_code == 0, done.output
    traces = [path for path in (tmp_path / "links").iterdir() if path.suffix == ".traceg"]
    assert len(traces) == len(plan_in(tmp_path)["chosen"])
    assert all(path.is_symlink() for path in traces)
    assert os.path.samefile(traces[0], tmp_path / "many" / traces[0].name)


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("out", ("--link",), "--link needs --plan and a directory OUT"),
        ("out.lst", ("--plan", "plan.json", "--link"), "--link needs --plan and a directory OUT"),
        ("out", ("--plan", "plan.json", "--l2", "1MB"), "--l2 is of live points"),
        ("out.lst", ("--l2", "1MB"), "--l2 is of live points"),
        ("out", ("--plan", "nothing.json"), "nothing.json: cannot read"),
    ],
)
def test_what_cannot_be_converted_is_refused(call, planned, target, options, message, tmp_path):
    done = call("convert", planned, target, *options)
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert message in line and not (tmp_path / target).exists()

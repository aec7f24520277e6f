"""Live points on the command line: profile, sample, trace --plan, simulate."""

import json

import pytest

PROGRAM = ("bitonic_sort", "--size", "1024")
SMALL = ("--set", "sm.count=4")


@pytest.fixture
def planned(call):
    """A plan of every launch of a program in the working directory."""
    assert call("profile", *PROGRAM, "--level", "1", "-o", "a.csv", "-q").exit_code == 0
    done = call(
        "sample", "a.csv", "--method", "systematic", "--option", "every=3", "-o", "plan.json"
    )
    assert done.exit_code == 0, done.output


def test_a_program_is_estimated_without_it(call, planned, tmp_path):
    done = call("trace", *PROGRAM, "--plan", "plan.json", "--l2", "1MB", "-o", "points.lst")
    assert done.exit_code == 0, done.output
    assert "live points" in done.stderr
    plan = json.loads((tmp_path / "plan.json").read_text())
    chosen, launches = len(plan["chosen"]), plan["launches"]
    told = call("info", "points.lst").stdout.splitlines()[2]
    assert told.startswith(f"Live points: {chosen} of {launches} launches, chosen by systematic")
    done = call("simulate", "points.lst", "--gpu", "QV100", *SMALL, "--json", "all.json")
    assert done.exit_code == 0, done.output
    assert f"Estimated from {chosen} of {launches} launches" in done.stdout
    assert "the live points are for an L2 of at most 1" in done.stderr
    found = json.loads((tmp_path / "all.json").read_text())
    assert found["estimate"]["observed"]["launch"] == plan["chosen"]
    again = call("run", *PROGRAM, *SMALL, "--timing", "plan:plan.json", "--json", "run.json")
    assert again.exit_code == 0, again.output
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["estimate"].keys() == found["estimate"].keys()
    first = plan["chosen"][0] + 1
    some = call("simulate", "points.lst", "--gpu", "QV100", *SMALL, "--kernels", first,
                "--json", "some.json")  # fmt: skip
    assert some.exit_code == 0, some.output
    assert "Estimated" not in some.stdout
    assert "estimate" not in json.loads((tmp_path / "some.json").read_text())


def test_who_looks_at_the_launches_alone_says_so(call, planned):
    assert call("trace", *PROGRAM, "--plan", "plan.json", "-o", "points.lst").exit_code == 0
    assert call("trace", *PROGRAM, "-o", "whole.lst").exit_code == 0
    told = "lockstep: points.lst has live points: what other launches left in caches before them "
    for command, options in (
        (("caches",), ("--gpu", "QV100", "-q")),
        (("profile",), ("-q", "-o", "p.csv")),
        (("proxy", "profile"), ("-q", "-o", "p.proxy")),
    ):
        assert told in call(*command, "points.lst", *options).stderr
        assert "live points" not in call(*command, "whole.lst", *options).stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--plan", "plan.json", "--l2", "1MB", "-o", "folder"), "of live points: -o FILE.lst"),
        (("--plan", "plan.json", "--at-issue", "-o", "p.lst"), "without --at-issue"),
        (("--plan", "plan.json", "--at-issue", "-o", "folder"), "without --at-issue"),
        (("--plan", "plan.json", "--tracer", "5", "-o", "p.lst"), "without --tracer"),
        (("--l2", "4MB", "-o", "p.lst"), "--l2 is of live points: with --plan"),
        (("--plan", "a.csv", "-o", "p.lst"), "lockstep: a.csv: no plan"),
        (("--plan", "nothing.json", "-o", "p.lst"), "lockstep: nothing.json: cannot read"),
        (("--plan", "plan.json", "--size", "4096", "-o", "p.lst"), "launches, and there are"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(call, planned, tmp_path, options, message):
    done = call("trace", *PROGRAM, *options)
    assert done.exit_code == 2, done.output
    assert message in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "p.lst").exists()


def test_an_ended_simulation_has_no_estimate(call, planned):
    assert call("trace", *PROGRAM, "--plan", "plan.json", "-o", "points.lst").exit_code == 0
    done = call("simulate", "points.lst", "--gpu", "QV100", *SMALL, "--limit-cycles", "5000")
    assert done.exit_code == 1, done.output
    assert "Estimated" not in done.stdout and "ended early" in done.stderr
    done = call("convert", "points.lst", "folder")
    assert done.exit_code == 2 and "live points are kept in .lst files alone" in done.stderr


@pytest.mark.parametrize("tracer", [(), ("--tracer", "5")])
def test_a_directory_has_the_launches_of_the_plan_and_their_weights(
    call, planned, tmp_path, tracer
):
    done = call("trace", *PROGRAM, "--plan", "plan.json", *tracer, "-o", "folder")
    assert done.exit_code == 0, done.output
    plan = json.loads((tmp_path / "plan.json").read_text())
    rows = (tmp_path / "folder" / "weights.csv").read_text().splitlines()[1:]
    names, launches, weights = zip(*(row.split(",") for row in rows))
    listed = (tmp_path / "folder" / "kernelslist.g").read_text().splitlines()
    assert tuple(line for line in listed if line.startswith("kernel")) == names
    assert list(map(int, launches)) == plan["chosen"]
    assert sum(map(float, weights)) == plan["launches"]


def test_a_directory_is_not_written_for_another_program(call, planned, tmp_path):
    refused = call("trace", *PROGRAM, "--size", "4096", "--plan", "plan.json", "-o", "folder")
    assert refused.exit_code == 2 and "launches, and there are" in refused.output
    assert not (tmp_path / "folder").exists()

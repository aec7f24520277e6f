"""Rules inside launches on the command line: where they go, and what comes of them."""

import json

import pytest

PROGRAM = ("vecadd", "--size", "20000")
SMALL = ("--set", "sm.count=1", "--set", "sm.ctas=2", "--set", "dram.channels=2")


def test_a_program_that_runs_in_part_is_estimated(call, tmp_path):
    """40 waves of one launch, and of its trace."""
    done = call("run", *PROGRAM, *SMALL, "--inside", "windows", "--json", "run.json")
    assert done.exit_code == 0, done.output
    assert "Estimated from 1 of 1 launches, 1 of them in part" in done.stdout
    assert "with 95 % confidence" in done.stdout and "Results are right" in done.stdout
    found = json.loads((tmp_path / "run.json").read_text())["estimate"]
    low, cycles, high = (found["cycles"][name] for name in ("low", "estimated", "high"))
    assert low < cycles < high and found["confidence"] == 0.95
    assert found["inside"]["rule"] == "windows" and found["inside"]["in part"] == 1
    assert call("trace", *PROGRAM, "-o", "a.lst").exit_code == 0
    assert call("simulate", "a.lst", "--gpu", "QV100", *SMALL, "-q", "--json", "whole.json"
                ).exit_code == 0  # fmt: skip
    whole = json.loads((tmp_path / "whole.json").read_text())["kernels"][0]
    assert low < whole["cycles"] < high
    rule = "pkp:threshold=9,window=900"
    again = call("simulate", "a.lst", "--gpu", "QV100", *SMALL, "--inside", rule,
                 "--json", "part.json")  # fmt: skip
    assert again.exit_code == 0, again.output
    assert "no bound (fewer than two launches ran both ways" in again.stdout
    part = json.loads((tmp_path / "part.json").read_text())["estimate"]
    assert part["cycles"]["low"] is None and part["inside"]["run to their end"] == 0


def test_a_folder_has_the_estimate_too(call, tmp_path):
    """Its cycles are those of a part, and nothing else in it said so."""
    rule = ("--inside", "windows", "-q", "--out", "out", "--json", "run.json")
    assert call("run", *PROGRAM, *SMALL, *rule).exit_code == 0
    estimate = json.loads((tmp_path / "run.json").read_text())["estimate"]
    found = json.loads((tmp_path / "out" / "manifest.json").read_text())["estimate"]
    assert found["cycles"] == estimate["cycles"] and found["launches"] == 1
    first, second, *_ = (tmp_path / "out" / "summary.txt").read_text().splitlines()
    assert first.startswith("Estimated from 1 of 1 launches, 1 of them in part: ")
    assert second.startswith("vecadd on QV100: ")
    assert call("run", *PROGRAM, *SMALL, "-q", "--out", "whole").exit_code == 0
    assert "estimate" not in json.loads((tmp_path / "whole" / "manifest.json").read_text())


def test_a_plan_and_live_points_take_a_rule(call, tmp_path):
    """Launches of a product in five steps: chosen, simulated in part, estimated; not continued."""
    program = ("bitonic_sort", "--size", "1024")
    assert call("profile", *program, "-o", "a.csv", "-q").exit_code == 0
    plan = ("sample", "a.csv", "--method", "systematic", "--option", "every=4", "-o", "plan.json")
    assert call(*plan).exit_code == 0
    small = ("--set", "sm.count=4")
    done = call("run", *program, *small, "--timing", "plan:plan.json", "--inside", "photon",
                "--json", "a.json")  # fmt: skip
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "a.json").read_text())["estimate"]
    chosen = json.loads((tmp_path / "plan.json").read_text())["chosen"]
    assert found["inside"]["launch"] == chosen and found["inside"]["in part"] == 0
    refused = call("sample", "a.csv", "--method", "systematic", "--seen", "plan.json", "a.json")
    assert refused.exit_code == 2 and "run without --inside" in refused.output
    assert call("trace", *program, "--plan", "plan.json", "-o", "points.lst").exit_code == 0
    points = call("simulate", "points.lst", "--gpu", "QV100", *small, "--inside", "windows",
                  "--json", "b.json")  # fmt: skip
    assert points.exit_code == 0, points.output
    assert f"Estimated from {len(chosen)} of" in points.stdout
    assert json.loads((tmp_path / "b.json").read_text())["estimate"]["inside"]["launch"] == chosen


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", *PROGRAM, "--inside", "steady"), "expected one of: windows, pkp, photon"),
        (("run", *PROGRAM, "--inside", "tbpoint"), "known of a trace alone"),
        (("run", *PROGRAM, "--inside", "windows", "--timing", "none"), "--inside needs --timing"),
        (("run", *PROGRAM, "--inside", "windows", "--at-issue"), "all CTAs run"),
        (("run", *PROGRAM, "--inside", "pkp", "--checkpoint-dir", "c"), "is in no checkpoint"),
        (("run", *PROGRAM, "--inside", "pkp", "--what-if"), "whole launches are compared"),
        (("simulate", "a.lst", "--inside", "pkp", "--plot", "a.svg"), "that nothing ends"),
        (("simulate", "a.lst", "--inside", "pkp", "--resume", "c"), "is in no checkpoint"),
        (("simulate", "a.lst", "--inside", "pkp", "--outside", "fd:9"), "has"),
    ],
)
def test_what_does_not_go_together_is_refused(call, trace, arguments, message):
    arguments = [str(trace) if each == "a.lst" else each for each in arguments]
    done = call(*arguments)
    assert done.exit_code == 2 and message in " ".join(done.output.split())

"""``lockstep sample``: plans of launch tables, samplers compared, and what is run by a plan."""

import json

import numpy as np
import pandas as pd
import pytest

from lockstep.sampling import LaunchTable, Plan


@pytest.fixture
def tables(tmp_path):
    """A table with times and one without, of the same 3,000 launches, in the working directory."""
    random = np.random.default_rng(1)
    place = np.arange(3000)
    frame = pd.DataFrame(
        {"name": np.array(["a", "b", "c"])[place % 3], "grid_x": 1 + place % 3, "block_x": 64}
    )
    times = np.array([100.0, 2000, 300])[place % 3] * (1 + 0.05 * random.random(3000))
    full = LaunchTable(frame.assign(time=times), "ns", "nsys")
    full.write(tmp_path / "full.parquet")
    full.without_times().write(tmp_path / "light.parquet")
    return full


def test_a_plan_on_times(call, tables, tmp_path):
    done = call("sample", "full.parquet", "--error", "2%", "-o", "plan.json")
    assert done.exit_code == 0, done.output
    head, found = done.stdout.splitlines()
    plan = Plan.read(tmp_path / "plan.json")
    assert head == f"bounded: {len(plan.chosen)} of 3,000 launches in {len(plan.sizes)} strata"
    assert found.startswith("Of the table's times (nsys): ") and "with 95 % confidence" in found
    assert plan.parameters["error"] == 0.02
    plan.check_table(tables)


def test_a_pilot_without_times_and_with_those_of_another_table(call, tables, tmp_path):
    done = call("sample", "light.parquet", "--error", "0.5%", "-o", "pilot.json")
    assert done.exit_code == 0 and len(done.stdout.splitlines()) == 1
    pilot = Plan.read(tmp_path / "pilot.json")
    done = call("sample", "light.parquet", "--error", "0.5%", "--truth", "full.parquet", "-o", "p")
    assert done.exit_code == 0, done.output
    assert len(Plan.read(tmp_path / "p").chosen) > len(pilot.chosen)


def test_a_plan_of_one_step_does_not_go_on(call, tables, tmp_path):
    """Nobody asked for an interval, so none is as narrow as asked."""
    call("sample", "light.parquet", "--method", "random", "-o", "p.json")
    plan = Plan.read(tmp_path / "p.json")
    cycles = [float(tables.times[row]) for row in plan.chosen.tolist()]
    observed = {"launch": plan.chosen.tolist(), "cycles": cycles}
    (tmp_path / "r.json").write_text(json.dumps({"estimate": {"observed": observed}}))
    done = call("sample", "light.parquet", "--method", "random", "--seen", "p.json", "r.json")
    assert done.stdout == "Nothing more is wanted: a plan of random is final.\n", done.output


def test_a_plan_goes_on_from_what_was_seen(call, tables, tmp_path):
    call("sample", "light.parquet", "--error", "0.3%", "-o", "p0.json")
    for step in range(30):
        plan = Plan.read(tmp_path / f"p{step}.json")
        observed = {"launch": plan.chosen.tolist(), "cycles": tables.times[plan.chosen].tolist()}
        (tmp_path / "run.json").write_text(json.dumps({"estimate": {"observed": observed}}))
        done = call("sample", "light.parquet", "--error", "0.3%", "--seen", f"p{step}.json",
                    "run.json", "-o", f"p{step + 1}.json")  # fmt: skip
        assert done.exit_code == 0, done.output
        if done.stdout.startswith("Nothing more is wanted"):
            break
        more = Plan.read(tmp_path / f"p{step + 1}.json")
        assert set(plan.chosen) <= set(more.chosen)  # it may only cut strata
    assert 0 < step < 29 and len(plan.chosen) > 20


def test_the_same_launches_on_another_gpu(call, tables, tmp_path):
    random = np.random.default_rng(2)
    slower = 1.25 * tables.times * (1 + 0.001 * random.random(3000))
    LaunchTable(tables.frame.assign(time=slower), "ns", "nsys").write(tmp_path / "slow.parquet")
    done = call("sample", "full.parquet", "--error", "2%", "--against", "slow.parquet", "-o", "p")
    assert done.exit_code == 0, done.output
    line = done.stdout.splitlines()[-1]
    assert line.startswith("slow.parquet: all launches take 1.25"), line
    plan = Plan.read(tmp_path / "p")
    assert line.endswith(f"with 95 % confidence (±{_half(line)} %); from {len(plan.chosen)} pairs")
    times = [dict(launch=plan.chosen.tolist(), cycles=each[plan.chosen].tolist())
             for each in (tables.times, slower)]  # fmt: skip
    for name, observed in zip("ab", times):
        (tmp_path / name).write_text(json.dumps({"estimate": {"observed": observed}}))
    again = call("sample", "light.parquet", "--seen", "p", "a", "--against", "b", "--error", "2%")
    assert again.exit_code == 0, again.output
    assert again.stdout.splitlines()[0] == line.replace("slow.parquet", "b").replace("ns", "cycles")


def _half(line):
    return line.partition("±")[2].partition(" ")[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("light.parquet", "--against", "full.parquet"), "--against needs times of TABLE"),
        (("full.parquet", "--against", "light.parquet"), "the launch table has no times"),
        (("full.parquet", "--against", "few.parquet"), "few.parquet has 10 launches, and full"),
        (("full.parquet", "--against", "cycles.parquet"), "times in cycles, full.parquet in ns"),
        (("full.parquet", "--compare", "all", "--against", "full.parquet"), "--against is of a"),
    ],
)
def test_what_cannot_be_compared(call, tables, tmp_path, arguments, message):
    LaunchTable(tables.frame[:10]).write(tmp_path / "few.parquet")
    LaunchTable(tables.frame, "cycles").write(tmp_path / "cycles.parquet")
    done = call("sample", *arguments)
    assert done.exit_code == 2 and message in done.stderr, done.output


def test_other_samplers_and_their_parameters(call, tables, tmp_path):
    done = call("sample", "light.parquet", "--method", "random", "--option", "every=50", "-o", "p")
    assert done.exit_code == 0
    plan = Plan.read(tmp_path / "p")
    assert plan.parameters == {"every": 50} and len(plan.chosen) == 60


def test_a_plan_is_drawn_over_a_column(call, tables, monkeypatch):
    pytest.importorskip("matplotlib")
    figures = []
    monkeypatch.setattr("lockstep.report.pictures.write_plot", lambda *given: figures.append(given))
    arguments = ("sample", "full.parquet", "--error", "2%", "--plot", "p.svg")
    assert call(*arguments, "--over", "grid_x").exit_code == 0
    launches = figures[0][0].axes[0].collections[0].get_offsets()
    assert launches[:, 0].tolist() == tables.column("grid_x").tolist()
    assert launches[:, 1].tolist() == tables.times.tolist()
    wrong = call(*arguments, "--over", "grid_w")
    assert wrong.exit_code == 2 and "grid_x" in wrong.stderr
    assert call("sample", "full.parquet", "--over", "grid_x").exit_code == 2


@pytest.mark.long
def test_a_comparison(call, tables, tmp_path):
    done = call("sample", "full.parquet", "--compare", "bounded,random,pks", "--seeds", "4",
                "--csv", "c.csv", "--plot", "c.svg")  # fmt: skip
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["bounded", "bounded"]
    assert lines[-1].startswith("pks: pks reads level 1, and the launch table has level 0")
    frame = pd.read_csv(tmp_path / "c.csv")
    assert set(frame["sampler"]) == {"bounded", "random", "pks"}
    assert (tmp_path / "c.svg").read_text().count("bounded") == 1


@pytest.mark.parametrize("suffix, magic", [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_a_picture_of_a_plan(call, tables, tmp_path, suffix, magic):
    done = call("sample", "full.parquet", "--plot", f"plan.{suffix}")
    assert done.exit_code == 0, done.output
    assert (tmp_path / f"plan.{suffix}").read_bytes().startswith(magic)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.parquet"], "absent.parquet: cannot read"),
        (["light.parquet", "--method", "bonded"], "no sampler is named 'bonded'; did you mean"),
        (["light.parquet", "--method", "foo"], "no sampler is named 'foo' (known: "),
        (["light.parquet", "--option", "every"], "--option 'every': expected NAME=VALUE"),
        (["light.parquet", "--option", "every=3"], "sampler bounded: "),
        (["light.parquet", "--method", "stem"], "stem needs the time of every launch"),
        (["light.parquet", "--method", "pks"], "pks reads level 1"),
        (["light.parquet", "--error", "0"], "expected a share such as 1%"),
        (["light.parquet", "--error", "120%"], "expected a share such as 1%"),
        (["light.parquet", "--compare", "all"], "needs the time of every launch"),
        (["light.parquet", "--plot", "p.svg"], "has no times"),
        (["full.parquet", "--plot", "p.pdf"], "a picture's name ends in .png or .svg"),
        (["full.parquet", "--csv", "c.csv"], "--csv is of a comparison"),
        (["full.parquet", "--truth", "short.parquet"], "has 2 launches, and full.parquet 3000"),
        (["full.parquet", "--truth", "other.parquet"], "are of different launches"),
        (["full.parquet", "--seen", "absent.json", "r.json"], "absent.json: cannot read"),
        (["full.parquet", "--seen", "plan.json", "r.json"], "r.json: has no estimate"),
        (["full.parquet", "--seen", "plan.json", "o.json"], "it is of another plan"),
        (["full.parquet", "--seen", "random.json", "o.json"], "--method random"),
        (["short.parquet", "--seen", "plan.json", "o.json"], "for 3000 launches, and there are 2"),
    ],
)
def test_what_is_refused(call, tables, tmp_path, arguments, message):
    short = LaunchTable(pd.DataFrame({"name": ["a", "b"], "time": [1.0, 2.0]}))
    short.write(tmp_path / "short.parquet")
    other = LaunchTable(tables.frame.assign(block_x=32), "ns")
    other.write(tmp_path / "other.parquet")
    (tmp_path / "r.json").write_text("{}")
    observed = {"launch": [0, 1], "cycles": [1.0, 2.0]}
    (tmp_path / "o.json").write_text(json.dumps({"estimate": {"observed": observed}}))
    for name, method in (("plan", "bounded"), ("random", "random")):
        call("sample", "light.parquet", "--method", method, "-o", f"{name}.json")
    done = call("sample", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.output


@pytest.mark.long
def test_a_program_is_profiled_planned_and_run(call, tmp_path):
    assert call("profile", "bitonic_sort", "--level", "1", "-o", "t.parquet").exit_code == 0
    done = call("sample", "t.parquet", "--method", "random", "--option", "every=3", "-o", "p.json")
    assert done.exit_code == 0, done.output
    ran = call("run", "--timing", "plan:p.json", "bitonic_sort", "--json", "r.json")
    assert ran.exit_code == 0, ran.output
    plan = Plan.read(tmp_path / "p.json")
    assert f"Estimated from {len(plan.chosen)} of 15 launches: " in ran.stdout
    document = json.loads((tmp_path / "r.json").read_text())
    assert len(document["kernels"]) == len(plan.chosen)
    assert document["estimate"]["cycles"]["low"] < document["estimate"]["cycles"]["estimated"]
    other = call("run", "--timing", "plan:p.json", "lu")
    assert other.exit_code == 2
    assert "the plan is for 15 launches, and there are " in other.stderr

"""The benchmark of samplers: its workloads, and tables that say what comparisons found."""

import sys
from pathlib import Path

import numpy as np
import pytest

from lockstep.sampling import LaunchTable, draw

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def benchmark(load_script):
    sys.path.insert(0, str(FOLDER))
    try:
        yield load_script(FOLDER / "sampling.py")
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def tables(benchmark):
    return benchmark.sampling_tables


@pytest.mark.parametrize("outliers", [False, True])
def test_made_up_tables_are_the_same_each_time(tables, outliers):
    first, again, other = (tables.synthetic(500, outliers, seed) for seed in (1, 1, 2))
    assert (first.times == again.times).all() and first.digest == again.digest
    assert first.digest != other.digest
    assert first.level == 1 and first.has_times and first.times.min() > 2000


def test_only_the_first_of_very_many_launches_have_a_profile(tables, monkeypatch):
    monkeypatch.setattr(tables, "WHOLE", 100)
    monkeypatch.setattr(tables, "PROFILED", 30)
    known = np.isfinite(tables.synthetic(101).column(tables.PROFILE[0]))
    assert known[:30].all() and not known[30:].any()
    assert np.isfinite(tables.synthetic(100).column(tables.PROFILE[0])).all()


def test_columns_of_times(tables, tmp_path):
    path = tmp_path / "times.csv"
    path.write_text("\ufeffa,b\n1,5\n2,\n3,\n", encoding="utf-8")
    table = tables.columns(path)
    assert table.frame["name"].tolist() == ["a", "a", "a", "b"]
    assert table.times.tolist() == [1, 2, 3, 5] and table.unit == "ns"


def test_measured_launches_by_a_column(tables, tmp_path):
    path = tmp_path / "launches.csv"
    rows = ["m,0,k,2x1x1,32x1x1,100", "m,1,k,2x1x1,32x1x1,110", "n,0,j,2x1x1,32x1x1,5"]
    path.write_text("\n".join(["model,index,name,grid,block,ns", *rows]), encoding="utf-8")
    found = dict(tables.measured(path, "model"))
    assert {name: table.times.tolist() for name, table in found.items()} == {
        "m": [100, 110], "n": [5],
    }  # fmt: skip
    assert len(dict(tables.measured(path, None))["launches"]) == 3


def test_one_pass_over_a_table_is_a_sample_of_it(benchmark):
    times = np.random.default_rng(0).lognormal(8, 0.1, 3000)
    table = LaunchTable.of({"name": f"k{k % 2}", "time": t} for k, t in enumerate(times))
    plan, seen = draw(benchmark.OnePass(0.02), table, 0, lambda rows: times[rows])
    assert 10 < len(plan.chosen) < 1000 and plan.drawn
    assert (seen == times[plan.chosen]).all()


def test_tables_are_printed(benchmark, monkeypatch, capsys, tmp_path):
    rows = tmp_path / "rows.csv"
    arguments = ["--synthetic", "400", "--seeds", "2", "--few", "1", "--shares", "0.1"]
    samplers = ["--samplers", "bounded 1 %", "stem 5 %", "photon", "online 1 %"]
    monkeypatch.setattr("sys.argv", ["sampling.py", *arguments, *samplers, "--rows", str(rows)])
    benchmark.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "### synthetic-400: 400 launches"
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[5:]]
    assert [row[:3] for row in cells[:4]] == [
        ["bounded 1 %", "launches", ""],
        ["bounded 1 %", "launches", "10 %"],
        ["stem 5 %", "launches, times", ""],
        ["stem 5 %", "launches, times", "10 %"],
    ]
    assert cells[4][0] == "photon" and "reads level 2" in cells[4][-1]
    assert cells[5][0] == "online 1 %" and cells[5][-1] == "1"
    assert len(rows.read_text().splitlines()) == 7


def test_every_sampler_is_compared(benchmark):
    from lockstep.sampling import SAMPLERS

    assert {name for name, _ in benchmark.SAMPLERS.values()} == set(SAMPLERS)

import io
import math

import pytest
from rich.console import Console

from lockstep.errors import InputError
from lockstep.report import benchmark
from lockstep.report.benchmark import Measurement


def measurement(trace="t", seconds=2.0, reference=100.0, stopped=""):
    return Measurement(trace, "QV100", 5000, 900, 0.5, seconds, 2.5, 80.0, reference, "h", stopped)


def shown(measured):
    console = Console(file=io.StringIO(), width=160)
    console.print(benchmark.table(measured, console.width))
    return console.file.getvalue()


def test_names_of_traces(tmp_path):
    (tmp_path / "vecadd").mkdir()
    for path in ("vecadd/kernelslist.g", "vecadd"):
        assert benchmark.name_of(tmp_path / path) == "vecadd"
    assert benchmark.name_of(tmp_path / "gemm.lst") == "gemm"
    assert benchmark.name_of(tmp_path / "kernel-1.traceg.xz") == "kernel-1"


def test_the_examples_of_a_checkout_are_found():
    names = {benchmark.name_of(path) for path in benchmark.examples()}
    assert "vecadd" in names and len(names) > 2


def test_a_plan_runs_each_gpu_of_the_reference(tmp_path, monkeypatch):
    monkeypatch.setattr(benchmark.api, "gpu_names", lambda: ["A100", "QV100", "V100"])
    (tmp_path / "r.csv").write_text(
        "trace,config,user_seconds\ngen:a,SM7_QV100,3.5\ngen:a,A100,2\ngen:a,SM9_H200,9\nb,A100,1\n"
    )
    known = benchmark.read_reference(tmp_path / "r.csv")
    jobs = benchmark.plan([tmp_path / "a", tmp_path / "c"], None, known)
    rows = [(j.trace, j.gpu, j.reference_seconds) for j in jobs]
    assert rows[:2] == [("a", "QV100", 3.5), ("a", "A100", 2.0)]
    assert rows[2][:2] == ("c", "") and math.isnan(rows[2][2])
    [job] = benchmark.plan([tmp_path / "a"], "QV100", known)
    assert (job.gpu, job.reference_seconds) == ("QV100", 3.5)


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "trace,config,user_seconds\nx,y,fast\n", "\0"])
def test_a_reference_must_have_its_columns(tmp_path, text):
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(InputError, match="expected a CSV"):
        benchmark.read_reference(tmp_path / "r.csv")
    with pytest.raises(InputError, match="cannot read"):
        benchmark.read_reference(tmp_path / "missing.csv")


def test_ratios_leave_reading_out_or_in():
    m = measurement(seconds=2.0, reference=100.0)
    assert (m.speedup, m.speedup_with_reading) == (50.0, 40.0)
    assert math.isnan(measurement(seconds=0.0).speedup)


def test_the_table_compares_where_there_is_a_reference():
    text = shown([measurement("a", 1.0, 100.0), measurement("b", 4.0, 100.0)])
    assert "100.0x" in text and "25.0x" in text
    summary = [line for line in text.splitlines() if "geometric mean" in line]
    assert "50.0x" in summary[0]
    assert "geometric" not in shown([measurement(reference=math.nan)])
    assert "(stopped)" in shown([measurement(stopped="limit")])


def test_the_geometric_mean_skips_what_is_undefined():
    assert benchmark.geometric_mean([2.0, 8.0, math.nan]) == pytest.approx(4.0)
    assert math.isnan(benchmark.geometric_mean([math.nan]))

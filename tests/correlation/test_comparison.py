"""A golden comparison: two measured launches, all of whose errors can be worked out by hand."""

import json
import math

import pytest

from correlation.samples import LOADS, NSIGHT
from lockstep.correlation import correlate
from lockstep.correlation.launches import CYCLES, Launch, is_sum, together
from lockstep.errors import InputError, LockstepError

KERNELS = ("_Z5scaleIfLi4EEvPT_i", 1100, 64), ("add", 1500, 32)


@pytest.fixture
def golden(file, result_file):
    return file(NSIGHT), result_file(*KERNELS)


def test_a_golden_table(golden):
    found = correlate(*golden)
    assert found.metrics == [CYCLES, LOADS]
    assert [row.name for row in found.rows] == ["app: scale<float,4>", "app: add"]
    assert [row.error(CYCLES) for row in found.rows] == pytest.approx([0.1, -0.25])
    cycles = found.statistics[CYCLES]
    assert (cycles.count, found.statistics[LOADS].count) == (2, 1)
    assert cycles.mape == pytest.approx(0.175)
    assert cycles.bias == pytest.approx(-0.075)
    assert cycles.worst == 0.25
    assert cycles.nrmse == pytest.approx(math.sqrt((100**2 + 500**2) / 2) / 1500)
    assert cycles.pearson == pytest.approx(1)
    assert found.coverage == {
        "compared": 2, "hardware": 2, "results": 2, "hardware_cycles": 1,
    }  # fmt: skip
    assert [row.kernel for row in found.worst()] == ["add", "scale<float,4>"]
    assert math.isnan(found.rows[1].error(LOADS))
    assert found.remarks == []


def test_counters_that_differ_most_come_first(file, result_file):
    head = f"kernel,cycles,{LOADS},dram__sectors_read.sum,sm__cycles_active.avg\n"
    head = head.replace("sm__", "launch__registers_per_thread,dram__sectors_write.sum,sm__")
    hardware = file(head + "k,100,1000,1000,20,1,100\n")
    metrics = {LOADS: 1100, "dram__sectors_read.sum": 500, "sm__cycles_active.avg": 900}
    metrics |= {"launch__registers_per_thread": 25, "dram__sectors_write.sum": 50}
    found = correlate(hardware, result_file(("k", 200, 0), metrics=metrics))
    registers = ("launch__registers_per_thread", 0.25)
    worst = [("dram__sectors_read.sum", -0.5), registers, (LOADS, 0.1)]
    assert found.differing(found.rows[0], 5) == worst
    assert found.differing(found.rows[0], 1) == [("dram__sectors_read.sum", -0.5)]


@pytest.mark.parametrize(
    ("group_by", "rows"),
    [
        ("launch", [("k", 1, 1, 10), ("k", 2, 1, 30), ("j", 3, 1, 5)]),
        ("kernel", [("k", 1, 2, 40), ("j", 3, 1, 5)]),
        ("program", [("", 1, 3, 45)]),
    ],
)
def test_rows_are_joined(file, result_file, group_by, rows):
    hardware = file("kernel,cycles\nk,10\nk,30\nj,5\n")
    found = correlate(hardware, result_file(("k", 1, 0), ("k", 2, 0), ("j", 3, 0)), (), group_by)
    assert [(r.kernel, r.number, r.launches, r.hardware[CYCLES]) for r in found.rows] == rows
    assert sum(r.ours[CYCLES] for r in found.rows) == 6


def test_of_a_program_of_many_launches_counts_are_added_and_rates_weighted():
    launches = [
        Launch("p", "k", n, {CYCLES: c, "dram__sectors_read.sum": 5.0, "sim__ipc": ipc})
        for n, (c, ipc) in enumerate([(100.0, 1.0), (300.0, 2.0)], 1)
    ]
    found = together(launches, [CYCLES, "dram__sectors_read.sum", "sim__ipc", "absent"])
    assert found == {CYCLES: 400, "dram__sectors_read.sum": 10, "sim__ipc": 1.75}


@pytest.mark.parametrize(
    ("name", "summed"),
    [
        (CYCLES, True), ("sm__cycles_elapsed.max", True), ("sim__cycles_running", True),
        ("lts__t_sectors.sum", True), ("sim__ipc", False), ("sm__cycles_active.avg", False),
        ("dram__bytes.sum.per_second", False), ("launch__registers_per_thread", False),
    ],
)  # fmt: skip
def test_sums_and_means(name, summed):
    assert is_sum(name) == summed


def test_metrics_are_chosen_by_name_and_pattern(golden):
    assert correlate(*golden, ["l1tex__*"]).metrics == [LOADS]
    assert correlate(*golden, [LOADS, "cycles"]).metrics == [LOADS, CYCLES]
    with pytest.raises(LockstepError, match=r"no counter that both sides have; did you mean gpc__"):
        correlate(*golden, ["gpc__cycles_elapsed"])


def test_short_rows_are_left_out_and_said(golden):
    found = correlate(*golden, min_cycles=1500)
    assert [row.kernel for row in found.rows] == ["add"]
    assert found.remarks == ["1 rows of less than 1,500 cycles on hardware are left out"]
    with pytest.raises(LockstepError, match="no row is left"):
        correlate(*golden, min_cycles=9999)


def test_results_by_name(file, result_file):
    hardware = file("program,kernel,cycles\nx,k,10\ny,k,20\n")
    paths = [result_file(("k", n, 0), name=f"{n}.json") for n in (11, 22)]
    found = correlate(hardware, dict(zip("xy", paths)))
    assert [row.error(CYCLES) for row in found.rows] == pytest.approx([0.1, 0.1])


def test_the_document(golden, tmp_path):
    found = correlate(*golden)
    found.to_json(tmp_path / "c.json")
    document = json.loads((tmp_path / "c.json").read_text())
    assert document["statistics"][LOADS]["pearson"] is None
    assert document["rows"][0]["kernel"] == "add"
    assert document["rows"][0]["error"] == {CYCLES: -0.25}
    assert document["coverage"]["compared"] == 2
    assert list(found.table["error"]) == pytest.approx([0.1, 0, -0.25])


def test_sides_without_a_common_counter(file, result_file):
    hardware = file("kernel,dram__sectors_read.sum\nk,1\n")
    with pytest.raises(LockstepError, match="no counter in common"):
        correlate(hardware, result_file(("k", 1, 0)))


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"kernels": []}', '{"kernels": [{"name": "k", "launches": 2}]}',
     '{"kernels": [{"id": 1, "name": "k", "cycles": "1", "metrics": {}}]}', "[" * 100_000],
)  # fmt: skip
def test_a_damaged_result_is_refused_in_one_line(file, text):
    with pytest.raises(InputError) as caught:
        correlate(file(NSIGHT), file(text, "result.json"))
    assert "result.json" in str(caught.value) and "\n" not in str(caught.value)


def test_a_folder_without_tables_is_refused(file, tmp_path):
    with pytest.raises(InputError, match=r"has no kernels\.parquet and no kernels\.csv"):
        correlate(file(NSIGHT), tmp_path)
    (tmp_path / "kernels.csv").write_text("id,name\n1,k\n")
    with pytest.raises(InputError, match="not a table of kernels: without grid, block, cycles"):
        correlate(file(NSIGHT), tmp_path)
    (tmp_path / "kernels.csv").write_text("id,name,grid,block,cycles\n1,k,,,fast\n")
    with pytest.raises(InputError, match="cycles 'fast'; expected numbers"):
        correlate(file(NSIGHT), tmp_path)


def test_a_damaged_parquet_file_is_refused_in_one_line(file, tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "kernels.parquet").write_bytes(b"PAR1 and nothing")
    with pytest.raises(InputError, match="cannot read it as Parquet") as caught:
        correlate(file(NSIGHT), tmp_path)
    assert "\n" not in str(caught.value)


def test_cycles_of_all_sms_follow_from_those_of_one(file, result_file):
    metrics = {"sm__cycles_active.sum": 400, "sm__cycles_active.avg": 5}
    hardware = file('Device,Kernel,Correlation_ID,elapsed_cycles_sm\n0,k,1,"8,000"\n')
    found = correlate(hardware, result_file(("k", 110, 0), metrics=metrics))
    assert found.rows[0].error("sm__cycles_elapsed.sum") == pytest.approx(0.1)

"""What a page holds, read back from the file."""

import base64
import gzip
import json
import re

import pandas
import pytest
from msgspec.structs import replace

from link_runs import of_modules, of_system
from lockstep.errors import LockstepError
from lockstep.report.page.document import SOURCE_ROWS, document
from lockstep.report.page.system import system_document
from lockstep.report.page.write import write_report
from lockstep.report.roofline import roofline


def read(path):
    packed = re.search(r'<script id="data" type="text/plain">([^<]*)<', path.read_text())[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


@pytest.fixture
def result(synthetic):
    return synthetic.make_result(kernels=3)


def test_the_page_holds_the_metrics_of_every_kernel(result, tmp_path):
    write_report(result, tmp_path / "r.html")
    data = read(tmp_path / "r.html")
    names = [m["name"] for m in data["metrics"]]
    assert all(m["meaning"] and m["unit"] and "{}" not in m["meaning"] for m in data["metrics"])
    for kernel, metrics, run in zip(data["kernels"], result.metrics, result.run.kernels):
        assert kernel["cycles"] == run.cycles
        for name, value in zip(names, kernel["values"], strict=True):
            assert value is None or value == pytest.approx(metrics[name], rel=1e-4)
    assert "sim__ipc" in names and "sim__sol_dram.pct" in names


def test_what_is_left_out_is_zero_or_undefined_everywhere(result):
    kept = {m["name"] for m in document(result)["metrics"]}
    for metrics in result.metrics:
        for name in set(metrics) - kept:
            assert metrics[name] == 0 or metrics[name] != metrics[name], name


def test_equal_results_give_equal_files_but_for_the_date(synthetic, tmp_path):
    for name in "ab":
        made = synthetic.make_result(kernels=3)
        made.date = "today"
        write_report(made, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_thousand_kernels_stay_below_three_megabytes(synthetic, tmp_path):
    write_report(synthetic.make_result(kernels=1000), tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_size <= 3_000_000
    assert len(read(tmp_path / "r.html")["kernels"]) == 1000


def test_a_page_asks_the_network_for_nothing(result, tmp_path):
    write_report(result, tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", text)
    assert "The MIT License" in text, "of uPlot: it demands to be shipped along"


@pytest.mark.parametrize("name", ["</script><b>x", "{{script}}", "<!--", "a\x1b[1mb"])
def test_what_a_trace_calls_itself_is_text(result, tmp_path, name):
    plain = len(re.findall("<script", page_of(result, tmp_path)))
    result.workload.name = name
    text = page_of(result, tmp_path)
    assert len(re.findall("<script", text)) == plain
    assert "<b>x" not in text and "\x1b" not in text


def page_of(result, folder):
    write_report(result, folder / "r.html")
    return (folder / "r.html").read_text()


def test_without_kernels_there_is_still_a_page(synthetic, tmp_path):
    result = synthetic.make_result(kernels=0, samples=0, stopped="nothing was launched")
    write_report(result, tmp_path / "r.html")
    data = read(tmp_path / "r.html")
    assert data["kernels"] == [] and data["heat"] == []
    assert "nothing was launched" in data["warnings"][-1]


def test_a_file_that_cannot_be_written_is_said(result, tmp_path):
    with pytest.raises(LockstepError):
        write_report(result, tmp_path)


def test_reasons_and_shares_of_a_source_are_not_added_to_its_stalls(result):
    lines = list(range(SOURCE_ROWS + 1))
    columns = {"line": lines, "stall_wait": 1.0, "stall_reason": "wait", "stall_share": 0.0}
    table = pandas.DataFrame(columns)
    table.loc[3, ["stall_wait", "stall_share"]] = 0.5, 99.0  # the least stalls, whatever its share
    found = document(result, source=table)["source"]
    assert found["left_out"] == 1
    assert [row[0] for row in found["rows"]] == [n for n in lines if n != 3]


def test_of_a_long_source_the_rows_with_most_stalls_are_kept_in_order(result):
    lines = range(SOURCE_ROWS + 10)
    table = pandas.DataFrame({"line": lines, "text": "x", "stall_wait": [i % 100 for i in lines]})
    found = document(result, source=table)["source"]
    kept = [row[0] for row in found["rows"]]
    assert found["left_out"] == 10 and kept == sorted(kept) and len(kept) == SOURCE_ROWS
    assert {row[2] for row in found["rows"]} >= set(range(1, 100))


def test_heat_maps_have_a_row_a_unit_and_a_column_a_kernel(result):
    for each in document(result)["heat"]:
        kernel = result.run.kernels[0]
        units = kernel.partition if each["row"] == "channel" else kernel.sm
        assert len(each["values"]) == len(units)
        assert all(len(row) == 3 and all(0 <= x <= 100 for x in row) for row in each["values"])


def test_points_of_the_roofline_are_what_was_counted(result):
    found = roofline(result)
    assert [p.kernel for p in found.points] == [0, 1, 2]
    gpu = result.gpu
    assert found.issue.rate == gpu.sm.count * gpu.sm.subcores * gpu.clock_mhz * 1e6
    for point, run in zip(found.points, result.run.kernels):
        seconds = run.running / (gpu.clock_mhz * 1e6)
        issued = int(run.sm["warp_instructions"].sum())
        assert point.rate == pytest.approx(issued / seconds)
        moved = run.partition["dram_read_bytes"].sum() + run.partition["dram_write_bytes"].sum()
        assert point.intensity["DRAM"] == pytest.approx(issued / (moved / 32))


def test_the_page_holds_the_advice(result):
    assert document(result)["advice"] is None
    item = {
        "title": "Spills", "kernel": "_Z4axpyi", "at_limit": False, "share": 0.5, "what": "W.",
        "file": "a.cu", "line": 3, "text": "STL", "todo": "T.", "gain": 2.0, "lift": "local_memory",
        "simulated": 1.5, "evidence": [{"name": "n", "value": 7, "unit": "%"}],
    }  # fmt: skip
    tried = {"lift": "local_memory", "kernel": "", "cycles": 9, "speedup": 1.5}
    result.advice = {"items": [item, item | {"line": 0, "simulated": None}], "what_if": [tried]}
    advice = document(result)["advice"]
    assert [i["place"] for i in advice["items"]] == ["a.cu:3", "STL"]
    assert [i["simulated"] for i in advice["items"]] == [1.5, None]
    assert advice["items"][0]["share"] == 50 and advice["items"][0]["lift"] == "local memory"
    assert advice["what_if"] == [["local memory", "", 9, 1.5]]


def test_a_table_of_many_instructions_is_cut_by_the_cycles_lost(result):
    n = SOURCE_ROWS + 5
    rows = {"stall_wait": range(n), "stall_share": 0.5, "stall_reason": "wait", "text": "x"}
    source = document(result, source=pandas.DataFrame(rows))["source"]
    assert source["left_out"] == 5 and source["rows"][0][0] == 5


def test_the_page_of_a_system_has_its_copies_and_the_page_of_each_gpu(tmp_path, monkeypatch):
    made = of_system()
    write_report(made, tmp_path / "r.html")
    data = read(tmp_path / "r.html")
    assert data["hash"] == made.hash and data["seconds"] == pytest.approx(100e-6)
    assert data["peers"] == [[0, 1, 3, 4096, 10, 10, 0.4096, "links"]]
    assert data["copies"] == [["to device", 0, 0, 512, 0, 1, 0.512]]
    assert [g["hash"] for g in data["gpus"]] == [g.hash for g in made.gpus]
    first, second = (g["share"] for g in data["gpus"])
    assert first == pytest.approx(2 * second, rel=1e-3)
    assert data["warnings"] == []
    made.peer_accesses = 7
    assert "crossed no link" in system_document(made)["warnings"][0]


def test_of_many_copies_those_that_took_longest_are_kept_in_order(monkeypatch):
    monkeypatch.setattr("lockstep.report.page.system.COPIES", 2)
    made = of_system()
    times = ((0, 5), (1, 9), (2, 4))
    made.host.peers[:] = [replace(made.host.peers[0], start=a, end=a + b) for a, b in times]
    data = system_document(made)
    assert [row[4] for row in data["peers"]] == [0, 1e-6] and data["left_out"]["peers"] == 1


def test_links_of_modules_are_in_the_page(tmp_path):
    write_report(of_modules(), tmp_path / "r.html")
    data = read(tmp_path / "r.html")
    assert data["links"]["rows"][0] == {"name": "module 0 > 1", "word": "0_1", "gb_per_s": 10}
    assert len(data["links"]["series"][0]) == 4
    names = [m["name"] for m in data["metrics"]]
    assert data["total"][names.index("sim__module_link_bytes_0_1.sum")] == 3000


def test_a_page_of_one_chip_has_no_links(result):
    assert document(result)["links"] is None

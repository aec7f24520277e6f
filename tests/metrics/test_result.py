import json
import math

import pandas
import pytest

from lockstep.errors import LockstepError
from lockstep.isa.instruction import OpClass
from lockstep.metrics import output, registry


@pytest.fixture
def result(synthetic):
    return synthetic.make_result()


def test_kernels_are_a_table_with_a_row_each(result):
    frame = result.kernels
    assert list(frame["id"]) == [1, 2]
    assert list(frame["cycles"]) == [k.cycles for k in result.run.kernels]
    for column in registry.columns(result.gpu):
        assert column.name in frame.columns
    assert frame["launch__block_size"].tolist() == [64, 64]


def test_the_series_has_a_row_an_interval(result):
    frame = result.series
    assert len(frame) == 4
    assert frame["start"].tolist()[1:] == frame["end"].tolist()[:-1]
    assert frame["start"][0] == 0 and frame["end"].iloc[-1] == result.cycles
    executed = result.run.samples[-1]["sm"]["warp_instructions"]
    assert frame["sm__inst_executed.sum"].sum() == executed


def test_without_an_interval_the_series_is_empty(synthetic):
    assert len(synthetic.make_result(samples=0).series) == 0


def test_a_run_without_kernels_has_a_result(synthetic, tmp_path):
    result = synthetic.make_result(kernels=0, samples=0)
    assert result.cycles == 0 and result.warp_instructions == 0
    assert len(result.kernels) == 0
    result.to_json(tmp_path / "x.json")
    result.save(tmp_path / "out")


def test_instructions_of_the_run_are_those_of_its_counters(synthetic):
    """Kernels that overlap each count what the others issued."""
    run = synthetic.make_result().run
    once = run.kernels[0].sm
    result = synthetic.make_result(sm=once)
    assert result.warp_instructions == once["warp_instructions"].sum()
    assert result.thread_instructions == once["thread_instructions"].sum()
    assert sum(result.opcodes.values()) == once["issued"].sum()


def test_opcodes_count_by_class(result):
    assert result.opcodes["FP64"] == result.run.sm["issued"][:, OpClass.FP64].sum()
    assert list(result.opcodes.values()) == sorted(result.opcodes.values(), reverse=True)
    assert result.unknown_opcodes == {"FROB.X": 7}


def test_the_hash_is_independent_of_how_the_run_was_made(synthetic):
    reference = synthetic.make_result().hash
    other = synthetic.make_result(threads=8, read_seconds=9.0, simulate_seconds=3.0, samples=0)
    assert other.hash == reference
    assert len(reference) == 32


@pytest.mark.parametrize(
    "change",
    [
        lambda run: setattr(run, "cycles", run.cycles + 1),
        lambda run: setattr(run.kernels[0], "end", run.kernels[0].end + 1),
        lambda run: setattr(run.kernels[1], "thread_instructions", 5),
        lambda run: run.kernels[0].sm["l1_evictions"].__setitem__(2, 123456),
        lambda run: run.kernels[1].partition["dram_refreshes"].__setitem__(1, 123456),
        lambda run: run.kernels.reverse(),
    ],
)
def test_the_hash_sees_every_cycle_and_metric(synthetic, change):
    changed = synthetic.make_result()
    change(changed.run)
    assert changed.hash != synthetic.make_result().hash


def test_another_seed_is_another_hash(synthetic):
    assert synthetic.make_result(1).hash != synthetic.make_result(2).hash


SCHEMA = {
    "version": str,
    "gpu": str,
    "kernels": list,
    "total": {"cycles": int, "warp_instructions": int, "thread_instructions": int},
    "run": {
        "read_seconds": float,
        "simulate_seconds": float,
        "kips": float,
        "peak_rss_mb": float,
        "threads": int,
        "result_hash": str,
    },
    "unknown_opcodes": dict,
    "stopped": str,
}
KERNEL_SCHEMA = {
    "id": int,
    "name": str,
    "title": str,
    "grid": list,
    "block": list,
    "dependence": str,
    "ctas": int,
    "first_cta": int,
    "ctas_done": int,
    "skipped": int,
    "complete": bool,
    "stopped": str,
    "launched_by": int,
    "cycles": int,
    "warp_instructions": int,
    "thread_instructions": int,
    "metrics": dict,
}


def check(document, schema):
    assert list(document) == list(schema)
    for key, kind in schema.items():
        if isinstance(kind, dict):
            check(document[key], kind)
        else:
            assert type(document[key]) is kind, key


def test_the_json_has_exactly_the_documented_fields(result, tmp_path):
    result.to_json(tmp_path / "x.json")
    document = json.loads((tmp_path / "x.json").read_text())
    check(document, SCHEMA)
    for entry, kernel in zip(document["kernels"], result.run.kernels):
        check(entry, KERNEL_SCHEMA)
        assert entry["grid"] == [8, 1, 1] and entry["cycles"] == kernel.cycles
    assert document["total"]["cycles"] == result.cycles
    kips = result.warp_instructions / 1000 / 0.5
    assert document["run"]["kips"] == pytest.approx(kips)


def test_undefined_metrics_are_null_in_json_and_nan_in_tables(synthetic, tmp_path):
    result = synthetic.make_result()
    result.run.kernels[0].sm["constant_accesses"] = 0
    name = "sim__constant_hit_rate.pct"
    assert math.isnan(result.kernels[name][0])
    result.to_json(tmp_path / "x.json")
    document = json.loads((tmp_path / "x.json").read_text())
    assert document["kernels"][0]["metrics"][name] is None


def test_tables_survive_their_files(result, tmp_path):
    result.to_csv(tmp_path / "x.csv")
    result.to_parquet(tmp_path / "x.parquet")
    csv, parquet = pandas.read_csv(tmp_path / "x.csv"), pandas.read_parquet(tmp_path / "x.parquet")
    for frame in (csv, parquet):
        assert frame["cycles"].tolist() == result.kernels["cycles"].tolist()
        name = "sim__l1_hit_rate.pct"
        assert frame[name].tolist() == pytest.approx(result.kernels[name].tolist())


def test_save_writes_everything(result, tmp_path):
    result.save(tmp_path / "out", summary="hello\n")
    names = sorted(p.name for p in (tmp_path / "out").iterdir())
    assert names == ["kernels.parquet", "manifest.json", "series.parquet", "summary.txt"]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["result_hash"] == result.hash
    assert manifest["trace_hash"] == "0123abcd"
    assert manifest["gpu_spec"]["sm"]["count"] == 4
    assert {"version", "date", "gpu_hash", "seed", "threads", "host"} <= set(manifest)


def test_without_pyarrow_tables_are_csv(result, tmp_path, monkeypatch):
    monkeypatch.setattr(output, "has_parquet", lambda: False)
    with pytest.raises(LockstepError, match=r"pip install 'lockstep-gpu\[parquet\]'"):
        result.to_parquet(tmp_path / "x.parquet")
    result.save(tmp_path / "out")
    names = sorted(p.name for p in (tmp_path / "out").iterdir())
    assert names == ["kernels.csv", "manifest.json", "series.csv"]


def test_a_notebook_shows_tables_and_no_markup_of_files(synthetic):
    result = synthetic.make_result(kernels=14, stopped="limit <i>")
    result.workload.name = "<script>alert(1)</script>"
    longest = max(result.run.kernels, key=lambda k: k.cycles)
    longest.name = "_Z5scaleIfEvPT_i"
    text = result._repr_html_()
    assert "<script>" not in text and "<i>" not in text and "limit &lt;i&gt;" in text
    assert "The 12 longest of 14 kernels" in text
    assert "void scale&lt;float&gt;(float*, int)" in text and f"<td>{longest.cycles}</td>" in text
    assert synthetic.make_result(kernels=0, samples=0)._repr_html_().startswith("<p><b>synthetic")


def test_metrics_of_all_kernels_are_those_of_a_run_of_serial_ones(result):
    """But for cycles in which nothing ran, of which a run has none here."""
    together = result.metrics_of(result.run.kernels)
    for name, value in together.items():
        assert value == pytest.approx(result.total[name], nan_ok=True), name

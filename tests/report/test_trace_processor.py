"""Timelines in Perfetto's trace processor, the engine of its page.

Skipped without Node.js 20 or without the engine, which ``scripts/trace_processor.py`` fetches;
TRACE_PROCESSOR may name another folder that has it. What the format demands is also checked
without it, in ``test_timeline.py``.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from link_runs import of_modules, of_system
from lockstep.report import timeline
from lockstep.report.system import write_system_timeline
from lockstep.report.timeline import COUNTERS, STALLS, write_timeline

HERE = Path(__file__).parent
ENGINE = Path(os.environ.get("TRACE_PROCESSOR", HERE.parents[1] / "build" / "trace-processor"))
NODE = shutil.which("node")
SLICES = "select category, count(*), sum(dur) from slice group by category order by category"
FAULTS = """select name, value from stats
    where value > 0 and (severity in ('error', 'data_loss') or name like 'json%failure%')"""
NESTED = "select count(*) from slice where depth > 0"
THREADS = """select process.pid, thread.name from thread join process using (upid)
    where thread.name is not null order by 1, 2"""
COUNTS = """select process_counter_track.name, count(*), max(value), process.name
    from counter join process_counter_track on track_id = process_counter_track.id
    join process using (upid) group by 1, 4 order by 1"""

pytestmark = pytest.mark.skipif(
    NODE is None or not (ENGINE / "engine.mjs").exists(),
    reason="no Node.js, or no trace processor: scripts/trace_processor.py fetches it",
)


def ask(trace, *queries):
    """What the trace processor answers, a list of rows for each query."""
    command = [NODE, HERE / "trace_processor.mjs", ENGINE, trace]
    done = subprocess.run(
        command, input=json.dumps(queries), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
def test_every_kernel_and_cta_is_a_slice_as_long_as_it_took(synthetic, tmp_path, name):
    result = synthetic.make_result(kernels=3, samples=6)
    write_timeline(result, tmp_path / name)
    slices, faults, threads, nested = ask(tmp_path / name, SLICES, FAULTS, THREADS, NESTED)
    assert faults == []
    events, run = result.run.cta_events, result.run
    long = {
        "cta": sum(e["end"] - e["start"] for e in events),
        "kernel": sum(k.cycles for k in run.kernels),
    }
    counts = {"cta": len(events), "kernel": len(run.kernels)}
    assert {category: count for category, count, _ in slices} == counts
    for category, count, nanoseconds in slices:  # a cycle is one; each end may be rounded
        assert abs(nanoseconds - long[category]) <= count
    assert [pid for pid, thread in threads if thread.startswith("stream")] == [0]
    slots = [(pid, thread) for pid, thread in threads if thread.startswith("CTA slot")]
    tracks = {(e["pid"], e["args"].get("name")) for e in timeline.events(result) if e["ph"] == "M"}
    named = {(pid, name) for pid, name in tracks if str(name).startswith("CTA slot")}
    assert sorted(slots) == sorted(named), "each slot has a track of its own"
    assert nested == [[0]], "and CTAs of one slot never overlap"


def test_counters_have_a_value_an_interval(synthetic, tmp_path):
    result = synthetic.make_result(samples=6)
    write_timeline(result, tmp_path / "t.json")
    [rows] = ask(tmp_path / "t.json", COUNTS)
    found = {name: (count, value) for name, count, value, _ in rows}
    for name, metric in COUNTERS.items():
        scale = 1e-9 if "GB/s" in name else 1.0
        most = max(row[metric] for row in result.intervals) * scale
        assert found[f"{name} value"] == (7, pytest.approx(most)), "and one 0 at the end"
    stalls = {name for name in found if name.startswith(STALLS)}
    shown = {name for name in result.intervals[0] if name.startswith("sim__scheduler_")}
    assert len(stalls) == len(shown)
    assert all(found[name][0] == 6 for name in stalls)


def test_links_between_modules_are_counters_of_their_own(tmp_path):
    result = of_modules()
    write_timeline(result, tmp_path / "t.json")
    rows, faults = ask(tmp_path / "t.json", COUNTS, FAULTS)
    links = [
        (name, count) for name, count, _, process in rows if process == "links between modules"
    ]
    assert links == [(f"module {a} > {b} (GB/s) value", 5) for a, b in ((0, 1), (1, 0))]
    assert faults == []


def test_a_system_has_its_links_copies_and_gpus(tmp_path):
    result = of_system()
    write_system_timeline(result, tmp_path / "t.json.gz")
    slices, faults, threads = ask(tmp_path / "t.json.gz", SLICES, FAULTS, THREADS)
    counts = {category: count for category, count, _ in slices}
    assert counts == {"call": 1, "link": 1, "copy": 1, "kernel": 4, "cta": 32}
    assert dict((c, t) for c, _, t in slices)["link"] == 10_000
    names = [name for _, name in threads]
    assert "GPU 0 > GPU 1" in names and "copies 0 > 1, stream 3" in names
    assert faults == []

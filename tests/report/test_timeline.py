"""The events against the Trace Event Format, as Perfetto reads it."""

import gzip
import json
from itertools import pairwise

import pytest

from link_runs import of_modules
from lockstep.errors import LockstepError
from lockstep.report import timeline
from lockstep.report.timeline import write_timeline

REQUIRED = {
    "M": {"name": str, "ph": str, "pid": int, "tid": int, "args": dict},
    "X": {"name": str, "cat": str, "ph": str, "pid": int, "tid": int, "ts": float, "dur": float},
    "C": {"name": str, "ph": str, "pid": int, "ts": float, "args": dict},
}
METADATA = {"process_name": ("name", str), "thread_name": ("name", str),
            "process_sort_index": ("sort_index", int)}  # fmt: skip


@pytest.fixture
def document(synthetic, tmp_path):
    write_timeline(synthetic.make_result(), tmp_path / "t.json.gz")
    return json.loads(gzip.decompress((tmp_path / "t.json.gz").read_bytes()))


def test_every_event_is_of_the_documented_format(document):
    assert document["displayTimeUnit"] in ("ms", "ns")
    for event in document["traceEvents"]:
        for key, kind in REQUIRED[event["ph"]].items():
            assert type(event[key]) is kind, event
        if event["ph"] == "X":
            assert event["ts"] >= 0 and event["dur"] >= 0
        if event["ph"] == "C":
            assert all(type(v) is float for v in event["args"].values())
        if event["ph"] == "M":
            key, kind = METADATA[event["name"]]
            assert type(event["args"][key]) is kind


def test_every_process_and_thread_with_a_slice_has_a_name(document):
    events = document["traceEvents"]
    processes = {e["pid"] for e in events if e["name"] == "process_name"}
    threads = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    for event in events:
        if event["ph"] == "X":
            assert event["pid"] in processes
            assert (event["pid"], event["tid"]) in threads


def test_no_thread_has_the_number_0(document):
    """Perfetto takes it for the thread that has the number of its process: two become one."""
    events = [e for e in document["traceEvents"] if e["name"] == "thread_name" or e["ph"] == "X"]
    assert events and all(e["tid"] > 0 for e in events)


def test_slices_of_one_thread_never_overlap(document):
    lanes = {}
    for e in document["traceEvents"]:
        if e["ph"] == "X":
            lanes.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
    for spans in lanes.values():
        spans.sort()
        for (_, end), (start, _) in pairwise(spans):
            assert start >= end - 1e-9


def test_every_cta_and_kernel_is_there_in_microseconds(document, synthetic):
    result = synthetic.make_result()
    slices = [e for e in document["traceEvents"] if e["ph"] == "X"]
    ctas = {e["name"]: e for e in slices if e["cat"] == "cta"}
    assert len(ctas) == len(result.run.cta_events) == 16
    for event in result.run.cta_events:
        kernel = result.run.kernels[event["kernel"]]
        found = ctas[f"{kernel.name} {event['cta']}"]
        assert found["pid"] == 1 + event["sm"]
        assert found["ts"] == pytest.approx(event["start"] / 1000)  # 1 GHz
        assert found["dur"] == pytest.approx((event["end"] - event["start"]) / 1000)
    kernels = [e for e in slices if e["cat"] == "kernel"]
    assert [e["args"]["id"] for e in kernels] == [1, 2]


def test_counters_follow_the_intervals_and_end_at_zero(document, synthetic):
    result = synthetic.make_result()
    for name, metric in timeline.COUNTERS.items():
        values = [e for e in document["traceEvents"] if e["ph"] == "C" and e["name"] == name]
        assert [e["ts"] for e in values] == [r["start"] / 1000 for r in result.intervals] + [
            result.intervals[-1]["end"] / 1000
        ]
        assert values[-1]["args"]["value"] == 0
        scale = 1e-9 if "GB/s" in name else 1
        expected = result.intervals[0][metric] * scale
        assert values[0]["args"]["value"] == pytest.approx(expected)


def test_equal_results_give_equal_files_and_plain_json_is_the_same(synthetic, tmp_path):
    for name in ("a.json.gz", "b.json.gz", "c.json"):
        write_timeline(synthetic.make_result(), tmp_path / name)
    packed = (tmp_path / "a.json.gz").read_bytes()
    assert packed == (tmp_path / "b.json.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "c.json").read_bytes()


def test_streams_have_a_thread_each(synthetic):
    result = synthetic.make_result()
    result.run.kernels[1].stream = 7
    names = {e["args"]["name"] for e in timeline._kernels(result) if e["ph"] == "M"}
    assert names == {"stream 0", "stream 7"}


def test_kernels_have_their_names_in_cpp(synthetic):
    result = synthetic.make_result()
    result.run.kernels[0].name = "_Z5scaleIfEvPT_i"
    (kernel,) = [e for e in timeline._kernels(result) if e.get("args", {}).get("id") == 1]
    assert kernel["name"] == "void scale<float>(float*, int)"
    assert kernel["args"]["name"] == "_Z5scaleIfEvPT_i"
    names = {e["name"] for e in timeline._ctas(result) if e["ph"] == "X"}
    assert {n for n in names if "scale" in n} == {f"scale<float> {cta}" for cta in range(8)}


def test_a_result_without_events_says_what_to_do(synthetic, tmp_path):
    result = synthetic.make_result(samples=0)
    result.run.cta_events = result.run.cta_events[:0]
    with pytest.raises(LockstepError, match="timeline=True"):
        write_timeline(result, tmp_path / "t.json")
    assert not list(tmp_path.iterdir())


def test_slots_are_reused_when_they_are_free():
    slots = timeline._Slots(0)
    taken = [slots.take(*span) for span in [(0, 10), (0, 5), (5, 9), (9, 12), (10, 11), (10, 20)]]
    assert taken == [(0, True), (1, True), (1, False), (1, False), (0, False), (2, True)]


def test_every_scheduler_cycle_of_an_interval_is_in_one_series(synthetic):
    result = synthetic.make_result(samples=5)
    found = [e for e in timeline.events(result) if e["name"] == timeline.STALLS]
    assert len(found) == len(result.intervals) == 5
    for event, row in zip(found, result.intervals):
        assert event["ts"] == row["start"] / result.gpu.clock_mhz
        assert sum(event["args"].values()) == pytest.approx(100)
        assert event["args"]["barrier"] == row["sim__scheduler_barrier.pct"]


def test_links_between_modules_have_a_counter_each():
    result = of_modules()
    found = list(timeline._module_links(result))
    (name,) = [e for e in found if e["name"] == "process_name"]
    assert name["pid"] == 1 + result.gpu.sm.count + 1, "behind the SMs and the host"
    values = [e for e in found if e["name"] == "module 0 > 1 (GB/s)"]
    assert {e["pid"] for e in values} == {name["pid"]}
    assert [e["ts"] for e in values[:-1]] == [row["start"] / 1000 for row in result.intervals]
    times = [row["end"] - row["start"] for row in result.intervals]
    carried = [e["args"]["value"] * time for e, time in zip(values, times)]
    assert carried == pytest.approx([187, 563, 937, 1313]) and values[-1]["args"]["value"] == 0


def test_a_gpu_of_one_chip_has_no_track_of_links(synthetic):
    assert list(timeline._module_links(synthetic.make_result())) == []

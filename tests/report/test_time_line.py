"""Where the time of a run went, from calls and copies that were written by hand."""

from itertools import pairwise

import pytest
from msgspec.structs import replace

from lockstep.engine.host.record import CallRun, CopyRun, HostRun
from lockstep.gpus.clock import HostClock
from lockstep.host_calls import Direction
from lockstep.metrics import host
from lockstep.report.summary import summary
from lockstep.report.time_line import STEPS_SHOWN
from lockstep.report.timeline import events

MICROSECOND = 1_000_000


@pytest.fixture
def result(synthetic):
    """One whose host calls for 1 us, copies for 3, and waits for kernels after 10."""
    made = synthetic.make_result()
    calls = [CallRun("copy", "", 0, MICROSECOND, 4 * MICROSECOND)]
    copies = [
        CopyRun(Direction.TO_DEVICE, 0, 0, 0, 3000, MICROSECOND, 3 * MICROSECOND, 1),
        CopyRun(Direction.TO_DEVICE, 1, 2, 0, 4000, 2 * MICROSECOND, 4 * MICROSECOND, 1),
    ]
    end = HostClock(made.gpu.clock_mhz).time(made.run.cycles) + 10 * MICROSECOND
    events = made.run.cta_events[:0]
    made.run = replace(
        made.run, kernels=[], cta_events=events, host=HostRun(calls, copies, {}, end)
    )
    return made


def test_each_moment_counts_once(result):
    found = host.parts(result.run, result.gpu)
    assert found["copies to the device"] == 3 * MICROSECOND, "two of them overlap"
    assert found["host calls"] == MICROSECOND
    assert sum(found.values()) == result.run.host.end
    assert result.parts["host calls"] == pytest.approx(1e-6)


def test_a_run_whose_host_takes_no_time_has_no_parts(synthetic):
    made = synthetic.make_result()
    assert made.parts == {} and host.steps(made.run, made.gpu) == []
    assert "Time line" not in summary(made) and "host" not in made.to_dict()


def test_the_summary_has_a_time_line(result):
    text = summary(result)
    assert "call: copy" in text and "copy to the device, 3000 bytes" in text
    line = next(line for line in text.splitlines() if line.startswith("copies to the device"))
    assert line.split()[4:6] == ["3.00", "µs"]
    result.run.host.calls *= STEPS_SHOWN
    assert f"the {STEPS_SHOWN} longest steps of {STEPS_SHOWN + 2}" in summary(result)


def test_the_document_has_calls_and_copies(result):
    found = result.to_dict()["host"]
    assert found["calls"][0]["busy"] == MICROSECOND
    assert [copy["direction"] for copy in found["copies"]] == ["to_device", "to_device"]
    assert found["picoseconds"] == result.run.host.end


def test_calls_and_engines_are_threads_of_the_timeline(result):
    found = [e for e in events(result) if e["pid"] == 1 + result.gpu.sm.count]
    names = [e["args"]["name"] for e in found if e["name"] == "thread_name"]
    assert names == ["calls", "to the device, engine 0", "to the device, engine 1"]
    slices = [e for e in found if e["ph"] == "X"]
    assert [(e["tid"], e["ts"], e["dur"]) for e in slices] == [(1, 0, 4), (2, 1, 2), (3, 2, 2)]
    for one, other in pairwise(slices):
        assert one["tid"] != other["tid"] or one["ts"] + one["dur"] <= other["ts"]

"""A timeline of a result in the Chrome trace event format, for ui.perfetto.dev.

Each SM is a process with one thread for each CTA slot; the GPU is a process with a thread for
each stream, and counters. A host that takes time is one more: its calls, and copies by engine;
so are the links of a GPU of several modules, with a counter each.
Times are microseconds of simulated time. Events are written one by one, so that a run
of millions of CTAs needs no memory for its timeline.
"""

import gzip
import heapq
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from lockstep.errors import LockstepError
from lockstep.files import replacing
from lockstep.metrics.host import DIRECTIONS
from lockstep.metrics.manifest import version
from lockstep.metrics.output import finite
from lockstep.metrics.result import Result
from lockstep.names import short_name
from lockstep.report.links import link_name, module_bytes
from lockstep.report.terms import terms

Event = dict[str, Any]
GPU_PROCESS = 0
FIRST_SM = 1  # process number of SM 0; behind the last one come the host and links of modules
FIRST_THREAD = 1  # Perfetto takes 0 for the thread that has the number of its process
MICROSECONDS = 1e-6  # of a picosecond

COUNTERS = {
    "IPC": "sim__ipc",
    "occupancy (%)": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "DRAM bandwidth (GB/s)": "dram__bytes.sum.per_second",
    "L2 hit rate (%)": "sim__l2_hit_rate.pct",
}
STALLS = "scheduler cycles (%)"
_SCHEDULER = "sim__scheduler_"
_SCALE = {"DRAM bandwidth (GB/s)": 1e-9}


def write_timeline(result: Result, path: str | Path) -> None:
    """Write the timeline; compressed where the name ends in ``.gz``.

    Raises :class:`LockstepError` unless the result comes from ``simulate(..., timeline=True)``.
    """
    run = result.run
    if not len(run.cta_events) and not len(run.samples) and not run.host:
        raise LockstepError("the result has no timeline: simulate with timeline=True")
    write_events(path, events(result), result.gpu.name, result.workload.name)


def write_events(path: str | Path, events: Iterator[Event], gpu: str, workload: str) -> None:
    """Write a timeline of these events; compressed where the name ends in ``.gz``."""
    about = {"version": version(), "gpu": gpu, "workload": workload}
    with replacing(path) as temporary, temporary.open("wb") as raw:
        if not str(path).endswith(".gz"):
            _write(raw, events, about)
        else:  # no name and no time in the header: equal runs give equal files
            with gzip.GzipFile("", "wb", 6, raw, 0) as packed:
                _write(packed, events, about)


def _write(file: BinaryIO | gzip.GzipFile, events: Iterator[Event], about: dict) -> None:
    head = {"displayTimeUnit": "ns", "otherData": about}
    file.write(json.dumps(head)[:-1].encode() + b', "traceEvents": [\n')
    for i, event in enumerate(events):
        file.write((b",\n" if i else b"") + json.dumps(finite(event)).encode())
    file.write(b"\n]}\n")


def events(result: Result) -> Iterator[Event]:
    """All events of a timeline: names first, then kernels, CTAs and counters."""
    yield from process(GPU_PROCESS, f"{result.gpu.name}: {result.workload.name}")
    yield from _host(result)
    yield from _kernels(result)
    yield from _ctas(result)
    yield from _counters(result)
    yield from _module_links(result)


def process(pid: int, name: str) -> Iterator[Event]:
    """The name of a process, and its place among the others."""
    yield {"name": "process_name", "ph": "M", "pid": pid, "tid": 0, "args": {"name": name}}
    yield {
        "name": "process_sort_index",
        "ph": "M",
        "pid": pid,
        "tid": 0,
        "args": {"sort_index": pid},
    }


def thread(pid: int, tid: int, name: str) -> Event:
    """The name of a thread; ``tid`` is its number in the process, from 0."""
    args = {"name": name}
    return {"name": "thread_name", "ph": "M", "pid": pid, "tid": FIRST_THREAD + tid, "args": args}


def span(name: str, category: str, place: tuple[int, int], times: tuple[float, float]) -> Event:
    """Something that takes time: from and to so many microseconds, in a process and thread."""
    pid, tid = place
    start, end = times
    return {
        "name": name,
        "cat": category,
        "ph": "X",
        "pid": pid,
        "tid": FIRST_THREAD + tid,
        "ts": start,
        "dur": end - start,
    }


def _kernels(result: Result) -> Iterator[Event]:
    clock = result.gpu.clock_mhz
    for number, stream in enumerate(sorted({k.stream for k in result.run.kernels})):
        yield thread(GPU_PROCESS, number, f"stream {stream}")
        for k in result.run.kernels:
            if k.stream == stream and k.end > k.launched:
                times = (k.launched / clock, k.end / clock)
                event = span(k.title, "kernel", (GPU_PROCESS, number), times)
                event["args"] = {
                    "id": k.id,
                    "name": k.name,
                    "grid": list(k.grid),
                    "block": list(k.block),
                    "launched_by": k.launched_by,
                    "cycles": k.cycles,
                    "warp_instructions": k.warp_instructions,
                }
                yield event


def _host(result: Result) -> Iterator[Event]:
    """Calls, with the time that they wait, and copies: a thread for each engine."""
    host = result.run.host
    if host is None:
        return
    number_of = FIRST_SM + result.gpu.sm.count
    yield from process(number_of, "host")
    yield thread(number_of, 0, "calls")
    for call in host.calls:
        if call.end > call.start:
            name = f"{call.kind} {short_name(call.name)}".strip()
            event = span(
                name, "call", (number_of, 0), (call.start * MICROSECONDS, call.end * MICROSECONDS)
            )
            yield event | {"args": {"busy_ns": (call.busy - call.start) / 1000}}
    engines = sorted({(copy.direction, copy.engine) for copy in host.copies})
    for number, (direction, engine) in enumerate(engines, 1):
        name = f"engine {engine}" if engine >= 0 else "pages"
        yield thread(number_of, number, f"{DIRECTIONS[direction]}, {name}")
        for copy in host.copies:
            if (copy.direction, copy.engine) == (direction, engine):
                times = (copy.start * MICROSECONDS, copy.end * MICROSECONDS)
                event = span(f"{copy.bytes} bytes", "copy", (number_of, number), times)
                about = {"stream": copy.stream, "pages": copy.pages, "GB/s": copy.bandwidth}
                yield event | {"args": about}


def _ctas(result: Result) -> Iterator[Event]:
    clock, kernels = result.gpu.clock_mhz, result.run.kernels
    finished = result.run.cta_events
    order = np.lexsort((finished["cta"], finished["start"], finished["sm"]))
    slots, words = _Slots(), terms(result.gpu)
    for event in finished[order]:
        kernel, cta, sm, start, end = event.tolist()
        if sm != slots.sm:
            slots = _Slots(sm)
            yield from process(FIRST_SM + sm, f"{words.core} {sm}")
        slot, is_new = slots.take(start, end)
        if is_new:
            yield thread(FIRST_SM + sm, slot, f"{words.cta} slot {slot}")
        name = f"{short_name(kernels[kernel].name)} {cta}"
        times = (start / clock, end / clock)
        yield span(name, "cta", (FIRST_SM + sm, slot), times)


class _Slots:
    """The CTA slots of one SM: a thread of the timeline may not hold two CTAs at a time."""

    def __init__(self, sm: int = -1):
        self.sm = sm
        self._free: list[int] = []
        self._busy: list[tuple[int, int]] = []  # (end, slot)
        self._count = 0

    def take(self, start: int, end: int) -> tuple[int, bool]:
        """The lowest slot that is free at ``start``, and whether it was never used before."""
        while self._busy and self._busy[0][0] <= start:
            heapq.heappush(self._free, heapq.heappop(self._busy)[1])
        is_new = not self._free
        slot = self._count if is_new else heapq.heappop(self._free)
        self._count += is_new
        heapq.heappush(self._busy, (end, slot))
        return slot, is_new


def _counters(result: Result) -> Iterator[Event]:
    """One value an interval, at its start, and zero at the end of the last one."""
    clock, rows = result.gpu.clock_mhz, result.intervals
    for row in rows:
        for name, metric in COUNTERS.items():
            yield _counter(name, row["start"] / clock, row[metric] * _SCALE.get(name, 1.0))
    yield from _stalls(result)
    for name in COUNTERS if rows else ():
        yield _counter(name, rows[-1]["end"] / clock, 0.0)


def _stalls(result: Result) -> Iterator[Event]:
    """What schedulers did in each interval, in percent: one series a state that occurs at all."""
    rows = result.intervals
    names = [n for n in (rows[0] if rows else ()) if n.startswith(_SCHEDULER)]
    shown = {
        n.removeprefix(_SCHEDULER).removesuffix(".pct").replace("_", " "): n
        for n in names
        if any(row[n] > 0 for row in rows)
    }
    for row in rows if shown else ():
        event = _counter(STALLS, row["start"] / result.gpu.clock_mhz, 0.0)
        values = {state: float(row[name]) for state, name in shown.items()}
        event["args"] = {s: x if math.isfinite(x) else 0.0 for s, x in values.items()}
        yield event


def _module_links(result: Result) -> Iterator[Event]:
    """What each link between modules carried, an interval a step, headers included."""
    clock, rows, number_of = result.gpu.clock_mhz, result.intervals, FIRST_SM + result.gpu.sm.count
    carried = module_bytes(result)
    if carried:
        yield from process(number_of + 1, "links between modules")
    for word, values in carried.items():
        name = f"{link_name(word)} (GB/s)"
        for row, value in zip(rows, values):
            time = (row["end"] - row["start"]) / clock  # microseconds
            yield _counter(name, row["start"] / clock, value / time / 1000, number_of + 1)
        yield _counter(name, rows[-1]["end"] / clock, 0.0, number_of + 1)


def _counter(name: str, ts: float, value: float, pid: int = GPU_PROCESS) -> Event:
    shown = value if math.isfinite(value) else 0.0
    return {
        "name": name,
        "ph": "C",
        "pid": pid,
        "tid": 0,
        "ts": ts,
        "args": {"value": shown},
    }

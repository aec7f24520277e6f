"""Of a system: tables of its GPUs and links, and one timeline of all of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lockstep.errors import LockstepError
from lockstep.metrics.system import SystemResult
from lockstep.names import short_name
from lockstep.report import timeline
from lockstep.report.columns import Column, Kind, table
from lockstep.report.figures import count, percent, scaled

if TYPE_CHECKING:
    from rich.table import Table

    from lockstep.engine.host.record import HostRun

_GPU = (Column("GPU", Kind.WORD), Column("", Kind.NAME), Column("kernels"), Column("running"),
        Column("share", rank=1))  # fmt: skip
_LINK = (Column("link", Kind.WORD), Column("bandwidth", rank=1), Column("bytes"),
         Column("busy"), Column("utilisation"))  # fmt: skip
HOST, FABRIC = 0, 1  # process numbers
FIRST_GPU, EACH_GPU = 1000, 10_000  # those of a GPU begin there, so far apart
_PS = timeline.MICROSECONDS


def tables(result: SystemResult, width: int) -> "Iterator[str | Table]":
    """The GPUs, and the links that carried anything."""
    total = max(result.host.end, 1)
    rows = []
    for number, gpu in enumerate(result.gpus):
        running = gpu.run.running / (gpu.gpu.clock_mhz * 1e6)
        share = percent(100e12 * running / total)
        cells = (str(number), gpu.gpu.name, count(len(gpu.run.kernels)), scaled(running, "s"))
        rows.append((*cells, share))
    yield table(_GPU, rows, width, f"{result.spec.name}: {scaled(result.seconds, 's')}")
    used = [
        (
            link["link"],
            scaled(link["gb_per_s"] * 1e9, "B/s"),
            count(link["bytes"]),
            scaled(link["busy_ps"] * 1e-12, "s"),
            percent(100 * link["utilisation"]),
        )
        for link in result.links
        if link["packets"]
    ]
    if used:
        yield ""
        yield table(_LINK, used, width, "Links")
    if result.peer_accesses:
        yield ""
        yield (
            f"{count(result.peer_accesses)} accesses of kernels went to the memory of other GPUs: "
            "they were simulated as accesses to their own, and crossed no link"
        )


def write_system_timeline(result: SystemResult, path: str | Path) -> None:
    """Write one timeline for ui.perfetto.dev: the host, the links, and each GPU with its SMs.

    Compressed where the name ends in ``.gz``. Raises :class:`LockstepError` where nothing was
    simulated.
    """
    if not result.host.calls:
        raise LockstepError("the result has no timeline: nothing was simulated")
    timeline.write_events(path, events(result), result.spec.name, result.gpus[0].workload.name)


def events(result: SystemResult) -> Iterator[timeline.Event]:
    """All events of a timeline."""
    yield from _host(result.host)
    yield from _links(result.host)
    for number, gpu in enumerate(result.gpus):
        first = FIRST_GPU + EACH_GPU * number
        for event in timeline.events(gpu):
            if event["name"] == "process_name":
                event["args"]["name"] = f"GPU {number}: {event['args']['name']}"
            if event["name"] == "process_sort_index":
                event["args"]["sort_index"] += first
            yield event | {"pid": event["pid"] + first}


def _host(host: "HostRun") -> Iterator[timeline.Event]:
    yield from timeline.process(HOST, "host")
    yield timeline.thread(HOST, 0, "calls")
    for call in host.calls:
        if call.end > call.start:
            name = f"{call.kind} {short_name(call.name)}".strip()
            yield timeline.span(name, "call", (HOST, 0), (call.start * _PS, call.end * _PS))


def _links(host: "HostRun") -> Iterator[timeline.Event]:
    """When each link was busy, and what the copies between GPUs were."""
    yield from timeline.process(FABRIC, "links")
    used = [link for link in host.links if link.spans]
    for number, link in enumerate(used):
        yield timeline.thread(FABRIC, number, link.name)
        for start, end in link.spans:
            yield timeline.span("busy", "link", (FABRIC, number), (start * _PS, end * _PS))
    pairs = sorted({(copy.source, copy.to, copy.stream) for copy in host.peers})
    for number, pair in enumerate(pairs, len(used)):
        source, to, stream = pair
        yield timeline.thread(FABRIC, number, f"copies {source} > {to}, stream {stream}")
        for copy in host.peers:
            if (copy.source, copy.to, copy.stream) == pair:
                times = (copy.start * _PS, copy.end * _PS)
                event = timeline.span(f"{copy.bytes} bytes", "copy", (FABRIC, number), times)
                yield event | {"args": {"GB/s": copy.bandwidth, "staged": copy.staged}}

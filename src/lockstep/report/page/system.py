"""What the page shows of a system: its links, its copies, and each GPU as a page of its own."""

from typing import Any

from lockstep.metrics import manifest
from lockstep.metrics.system import SystemResult
from lockstep.report import figures, links
from lockstep.report.page.document import document, rounded

COPIES = 2000  # of each kind at most, those that took longest
_MICROSECOND = 1e-6  # of a picosecond


def system_document(result: SystemResult) -> dict[str, Any]:
    """Everything that the page shows, times in microseconds but for ``seconds``."""
    peers = [
        [p.source, p.to, p.stream, p.bytes, *_times(p), "way of the host" if p.staged else "links"]
        for p in result.host.peers
    ]
    copies = [
        [figures.clean(c.direction.name.lower().replace("_", " ")), c.gpu, c.stream, c.bytes,
         *_times(c)]
        for c in result.host.copies
    ]  # fmt: skip
    return {
        "version": manifest.version(),
        "workload": figures.clean(result.gpus[0].workload.name),
        "gpu": figures.clean(result.spec.name),
        "date": result.gpus[0].date,
        "hash": result.hash,
        "seconds": result.seconds,
        "warnings": _warnings(result),
        "links": links.of_system(result),
        "peers": _longest(peers),
        "copies": _longest(copies),
        "left_out": {"peers": max(0, len(peers) - COPIES), "copies": max(0, len(copies) - COPIES)},
        "gpus": [_gpu(result, number) for number in range(len(result.gpus))],
    }


def _gpu(result: SystemResult, number: int) -> dict[str, Any]:
    """The page of a GPU, and how long something ran on it."""
    gpu = result.gpus[number]
    running = gpu.run.running / gpu.gpu.clock_mhz
    share = 100 * running * 1e-6 / result.seconds if result.seconds else 0.0
    return document(gpu) | {"running": rounded(running), "share": rounded(share)}


def _warnings(result: SystemResult) -> list[str]:
    found = [figures.clean(result.stopped)] if result.stopped else []
    if result.peer_accesses:
        found.append(
            f"{figures.count(result.peer_accesses)} accesses of kernels went to the memory of "
            "other GPUs: they were simulated as accesses to their own, and crossed no link"
        )
    return found


def _times(copy: Any) -> list[float | int | None]:
    """When a copy begins, how long it takes, and GB/s."""
    takes = (copy.end - copy.start) * _MICROSECOND
    return [rounded(copy.start * _MICROSECOND), rounded(takes), rounded(copy.bandwidth)]


def _longest(rows: list[list]) -> list[list]:
    """As many as are shown, in their order: those that took longest."""
    if len(rows) <= COPIES:
        return rows
    kept = sorted(range(len(rows)), key=lambda k: -rows[k][5])[:COPIES]
    return [rows[k] for k in sorted(kept)]

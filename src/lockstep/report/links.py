"""What went over links: between the modules of a GPU, and between the GPUs of a system."""

from typing import TYPE_CHECKING, Any

import numpy as np

from lockstep.metrics.modules import links
from lockstep.metrics.result import Result

if TYPE_CHECKING:
    from lockstep.metrics.system import SystemResult

STEPS = 300  # of time at most: a picture has no more columns


def module_bytes(result: Result) -> dict[str, list[float]]:
    """Bytes that each link between modules carried in each interval, by its word: "0_1".

    Empty for one chip, and where no interval was asked for.
    """
    rows = result.intervals if len(result.run.module_samples) else []
    return {
        word: [row[f"sim__module_link_bytes_{word}.sum"] for row in rows]
        for word, _ in (links(result.gpu) if rows else ())
    }


def link_name(word: str) -> str:
    """How a link between modules is called: "module 0 > 1"."""
    return f"module {word.replace('_', ' > ')}"


def of_modules(result: Result) -> dict[str, Any] | None:
    """The links between modules, and how busy each was over time; None for one chip.

    ``rows``: a link each, ``word`` as in its metrics. ``series``: a list a link of ``what``, a
    number a step, which begins at the core cycle that ``start`` has.
    """
    if not len(result.run.modules):
        return None
    gpu, carried = result.gpu, module_bytes(result)
    limit = gpu.modules.bandwidth
    edges = _edges(result.intervals) if carried else []
    each = max(1, -(-len(result.intervals) // STEPS))
    series = []
    for values in carried.values():
        sums = np.add.reduceat(np.nan_to_num(values), range(0, len(values), each))
        rates = sums / np.diff(edges) * gpu.clock_mhz / 1000  # GB/s
        series.append([round(x, 2) for x in (100 * rates / limit if limit else rates).tolist()])
    pairs = links(gpu) if gpu.modules.count > 1 else []
    rows = [{"name": link_name(word), "word": word, "gb_per_s": limit or None} for word, _ in pairs]
    what = "% of what the link can carry" if limit else "GB/s"
    return _document(rows, what, "core cycle", edges[:-1], series) if rows else None


def of_system(result: "SystemResult") -> dict[str, Any] | None:
    """The links that carried anything between GPUs or with the host; None if none did.

    As :func:`of_modules`; a row has ``bytes``, ``packets``, and ``share``: % of the time.
    """
    used = [(row, run.spans) for row, run in zip(result.links, result.host.links) if row["bytes"]]
    edges = np.linspace(0, result.host.end, STEPS + 1)
    series = []
    for _, spans in used:
        busy = np.diff(_busy_until(spans, edges))
        series.append([round(x, 1) for x in (100 * busy / np.diff(edges)).tolist()])
    rows = [
        {
            "name": row["link"],
            "gb_per_s": row["gb_per_s"],
            "bytes": row["bytes"],
            "packets": row["packets"],
            "share": round(100 * row["utilisation"], 2),
        }
        for row, _ in used
    ]
    start = [round(x, 3) for x in (edges[:-1] * 1e-6).tolist()]
    return _document(rows, "busy, % of the time", "µs", start, series) if rows else None


def _document(rows: list, what: str, unit: str, start: list, series: list) -> dict[str, Any]:
    return {"rows": rows, "what": what, "unit": unit, "start": start, "series": series}


def _edges(intervals: list[dict[str, float]]) -> list[float]:
    """Where steps begin, at most so many of them, and where the last one ends."""
    each = max(1, -(-len(intervals) // STEPS))
    return [*(row["start"] for row in intervals[::each]), intervals[-1]["end"]]


def _busy_until(spans: list[tuple[int, int]], times: np.ndarray) -> np.ndarray:
    """Of the time from 0 to each of these, how much lies in spans, which are in order."""
    starts, ends = np.array(spans, np.int64).reshape(-1, 2).T
    before = np.concatenate([[0], np.cumsum(ends - starts)])
    begun = np.searchsorted(starts, times)  # spans that began earlier: all but the last are over
    last = np.maximum(begun - 1, 0)
    part = np.clip(times - starts[last], 0, ends[last] - starts[last]) if len(starts) else 0
    return np.where(begun > 0, before[last] + part, 0)

"""What the page shows of a result, as plain values: no HTML, and nothing that needs the model."""

import math
from typing import TYPE_CHECKING, Any

from lockstep.metrics import manifest
from lockstep.metrics.registry import SECTIONS
from lockstep.metrics.result import Result
from lockstep.metrics.source import STALLS
from lockstep.report import figures, links, summary
from lockstep.report.page.heat import heat_maps
from lockstep.report.roofline import roofline
from lockstep.report.source import place
from lockstep.report.terms import terms

if TYPE_CHECKING:
    import pandas

DIGITS = 5  # significant ones: a thousand kernels must stay a small file
INTERVALS = 2000  # of the series at most: more are more than a screen has pixels
SOURCE_ROWS = 5000  # of a source view at most, those with most stalls
SERIES = {
    "IPC": "sim__ipc",
    "occupancy, %": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "L1 hits, %": "sim__l1_hit_rate.pct",
    "L2 hits, %": "sim__l2_hit_rate.pct",
    "DRAM, % of peak": "sim__sol_dram.pct",
    "crossbar, % of peak": "sim__sol_crossbar.pct",
}
STALL = "sim__scheduler_"  # metrics of what schedulers did begin so
_LIMIT = "sim__sol_"


def document(
    result: Result,
    comparison: dict[str, Any] | None = None,
    source: "pandas.DataFrame | None" = None,
) -> dict[str, Any]:
    """Everything that the page shows.

    ``comparison``: of :func:`lockstep.report.compare.compare`, as its ``to_dict`` has it.
    ``source``: a row a line or an instruction, with columns such as file, line, text, issued,
    thread_efficiency and ``stall_<reason>``; the result's own attribute ``source`` without one.
    """
    names = _shown_metrics(result)
    lines = None
    if source is None and result.counts_instructions:
        source, lines = result.source, result.source_lines
    words = terms(result.gpu)
    return {
        "version": manifest.version(),
        "workload": figures.clean(result.workload.name),
        "gpu": figures.clean(result.gpu.name),
        "clock_mhz": result.gpu.clock_mhz,
        "date": result.date,
        "hash": result.hash,
        "threads": result.run.threads,
        "seconds": result.run.simulate_seconds,
        "cycles": result.cycles,
        "warnings": summary.warnings(result),
        "words": {"core": words.core, "warp": words.warp, "cta": words.cta},
        "metrics": _metric_table(names),
        "total": _values(result.total, names),
        "kernels": [
            {
                "id": k.id,
                "name": figures.kernel_name(k.name),
                "grid": figures.size(k.grid),
                "block": figures.size(k.block),
                "stream": k.stream,
                "launched": k.launched,
                "cycles": k.cycles,
                "limiter": k.limiter,
                "values": _values(metrics, names),
            }
            for k, metrics in zip(result.run.kernels, result.metrics)
        ],
        "roofline": _roofline(result),
        "series": _series(result),
        "heat": heat_maps(result),
        "links": links.of_modules(result),
        "source_lines": _source(lines),
        "source": _source(source),
        "advice": _advice(result),
        "compare": comparison,
    }


def rounded(value: float) -> float | int | None:
    """A whole number, or one with as many digits as a reader needs; None where it is undefined."""
    if not math.isfinite(value):
        return None
    if value == int(value):
        return int(value)
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short == int(short) else short


def _shown_metrics(result: Result) -> list[str]:
    """The metrics that are not 0 or undefined everywhere, and every speed of light."""
    tables = [*result.metrics, result.total]
    names = list(result.metrics[0]) if result.metrics else [n for n in result.total if "__" in n]
    return [
        name
        for name in names
        if name.startswith(_LIMIT) or any(_counts(table.get(name, 0)) for table in tables)
    ]


def _counts(value: float) -> bool:
    return math.isfinite(value) and value != 0


def _values(metrics: dict[str, float], names: list[str]) -> list[float | int | None]:
    return [rounded(metrics.get(name, math.nan)) for name in names]


def _metric_table(names: list[str]) -> list[dict[str, str]]:
    """Name, unit, meaning and section of each metric."""
    found = []
    for name in names:
        for section, entries in SECTIONS.items():
            entry = next((m for m in entries if _is_of(name, m.name)), None)
            if entry:
                meaning = entry.meaning.replace("{}", _key(name, entry.name))
                found.append(
                    {"name": name, "unit": entry.unit, "meaning": meaning, "section": section}
                )
                break
    assert len(found) == len(names), "every metric is of an entry"
    return found


def _is_of(name: str, entry: str) -> bool:
    head, brace, tail = entry.partition("{}")
    return name.startswith(head) and name.endswith(tail) if brace else name == entry


def _key(name: str, entry: str) -> str:
    head, _, tail = entry.partition("{}")
    return name[len(head) : len(name) - len(tail)].replace("_", " ")


def _roofline(result: Result) -> dict[str, Any]:
    found = roofline(result)
    return {
        "issue": rounded(found.issue.rate),
        "levels": {name: rounded(ceiling.rate) for name, ceiling in found.levels.items()},
        "points": [
            [p.kernel, rounded(p.rate), {level: rounded(x) for level, x in p.intensity.items()}]
            for p in found.points
        ],
    }


def _series(result: Result) -> dict[str, Any]:
    """Columns over time: the stalls, and what ``SERIES`` names; no column without intervals."""
    rows = result.intervals
    step = max(1, math.ceil(len(rows) / INTERVALS))
    kept = rows[::step]
    stalls = [n for n in (kept[0] if kept else ()) if n.startswith(STALL)]
    stalls = [n for n in stalls if any(row[n] > 0 for row in kept)]
    return {
        "start": [row["start"] for row in kept],
        "every": step,
        "stalls": {
            n.removeprefix(STALL).removesuffix(".pct").replace("_", " "): _column(kept, n)
            for n in stalls
        },
        "lines": {title: _column(kept, name) for title, name in SERIES.items() if kept},
    }


def _column(rows: list[dict[str, float]], name: str) -> list[float | int | None]:
    return [rounded(row[name]) for row in rows]


def _advice(result: Result) -> dict[str, Any] | None:
    """What was found of why it is slow, and what was simulated; None where nobody asked."""
    if not result.advice:
        return None
    items = [
        {
            "title": item["title"],
            "kernel": figures.kernel_name(item["kernel"]) if item["kernel"] else "",
            "at_limit": item["at_limit"],
            "share": rounded(100 * item["share"]),
            "what": item["what"],
            "place": place(item["file"], item["line"]) if item["line"] else item["text"],
            "todo": item["todo"],
            "gain": rounded(item["gain"]),
            "lift": item["lift"].replace("_", " "),
            "simulated": item["simulated"] and rounded(item["simulated"]),
            "evidence": [
                {**each, "value": rounded(float(each["value"]))} for each in item["evidence"]
            ],
        }
        for item in result.advice["items"]
    ]
    tried = [
        [row["lift"].replace("_", " "), row["kernel"], row["cycles"], rounded(row["speedup"])]
        for row in result.advice["what_if"]
    ]
    return {"items": items, "what_if": tried}


def _source(table: "pandas.DataFrame | None") -> dict[str, Any] | None:
    """The rows with most stalls, in the order of the table; how many were left out."""
    if table is None or not len(table):
        return None
    stalls = [name for name in STALLS if name in table.columns]
    weight = table[stalls].sum(axis=1) if stalls else table.get("issued")
    hot = table
    if len(table) > SOURCE_ROWS and weight is not None:
        hot = table.loc[weight.nlargest(SOURCE_ROWS).index].sort_index()
    hot = hot.iloc[:SOURCE_ROWS]
    rows = hot.astype(object).where(hot.notna(), None).values.tolist()
    return {
        "columns": [str(name) for name in hot.columns],
        "rows": [[rounded(x) if isinstance(x, float) else x for x in row] for row in rows],
        "left_out": len(table) - len(hot),
    }

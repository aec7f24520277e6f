"""Heat maps of a result: how busy each SM and each memory partition was, kernel by kernel."""

from typing import Any

import numpy as np

from lockstep.metrics.result import Result
from lockstep.report.terms import terms

MAPS = ("active", "issue", "dram")
"""What the maps are of, in their order: cycles with work, issued instructions, busy channels."""
KERNELS = 200  # columns at most, those with most cycles, in the order of launches


def heat_maps(result: Result) -> list[dict[str, Any]]:
    """Maps with a row a unit and a column a kernel, in percent; none without kernels.

    Each has ``title``, ``row`` (what a row is), ``kernels`` (their places in the kernel table) and
    ``values``, a list a row.
    """
    runs = result.run.kernels
    order = sorted(range(len(runs)), key=lambda k: -runs[k].cycles)[:KERNELS]
    columns = sorted(order)
    if not columns:
        return []
    subcores, core = result.gpu.sm.subcores, terms(result.gpu).core
    maps = [
        (f"{core}s: cycles with work", core, "sm", "active_cycles", 1),
        (f"{core}s: instructions issued, of all that could be", core, "sm", "warp_instructions",
         subcores * result.gpu.sm.scheduler.issue_width),
    ]  # fmt: skip
    drawn = []
    for title, row, unit, counter, each in maps:
        cells = [getattr(runs[k], unit)[counter] / max(1, runs[k].running * each) for k in columns]
        drawn.append(_map(title, row, columns, cells))
    busy = [_bus_busy(runs[k].partition) for k in columns]
    drawn.append(_map("DRAM channels: clocks with data on the bus", "channel", columns, busy))
    return drawn


def _bus_busy(partitions: np.ndarray) -> np.ndarray:
    return partitions["dram_bus_busy"] / np.maximum(1, partitions["dram_clocks"])


def _map(title: str, row: str, kernels: list[int], columns: list[np.ndarray]) -> dict[str, Any]:
    percent = np.rint(1000 * np.clip(np.stack(columns, axis=1), 0, 1)) / 10
    return {"title": title, "row": row, "kernels": kernels, "values": percent.tolist()}

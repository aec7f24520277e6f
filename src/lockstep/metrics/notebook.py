"""A result as a notebook shows it."""

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lockstep.metrics.result import Result

ROWS = 12  # kernels shown, those with most cycles
_COLUMNS = {
    "id": "id",
    "title": "kernel",
    "grid": "grid",
    "block": "block",
    "cycles": "cycles",
    "sim__ipc": "IPC",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy, %",
    "sim__l1_hit_rate.pct": "L1 hits, %",
    "sim__l2_hit_rate.pct": "L2 hits, %",
    "sim__sol_dram.pct": "DRAM, % of peak",
}


def html(result: "Result") -> str:
    """A head and a table of the kernels that took most cycles; what files say is escaped."""
    name, gpu = escape(result.workload.name), escape(result.gpu.name)
    head = f"<b>{name}</b> on {gpu}: {result.cycles:,} cycles"
    if result.stopped:
        head += f"<br>Ended early, the numbers are partial: {escape(result.stopped)}"
    if not result.run.kernels:
        return f"<p>{head}</p>"
    if len(result.run.kernels) > ROWS:
        head += f"<br>The {ROWS} longest of {len(result.run.kernels)} kernels:"
    longest = result.kernels.nlargest(ROWS, "cycles").sort_values("launched")
    shown = longest[list(_COLUMNS)].rename(columns=_COLUMNS)
    table = shown.to_html(index=False, escape=True, float_format="{:,.2f}".format, na_rep="–")
    return f"<p>{head}</p>\n{table}"

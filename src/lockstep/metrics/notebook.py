"""A result as a notebook shows it."""

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas

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


def html(
    workload: str, gpu: str, cycles: int, stopped: str, kernels: "pandas.DataFrame | None"
) -> str:
    """A head and a table of the kernels that took most cycles; what files say is escaped.

    ``stopped``: why the run ended early; ``kernels``: a row each, None without any.
    """
    head = f"<b>{escape(workload)}</b> on {escape(gpu)}: {cycles:,} cycles"
    if stopped:
        head += f"<br>Ended early, the numbers are partial: {escape(stopped)}"
    if kernels is None:
        return f"<p>{head}</p>"
    if len(kernels) > ROWS:
        head += f"<br>The {ROWS} longest of {len(kernels)} kernels:"
    longest = kernels.nlargest(ROWS, "cycles").sort_values("launched")
    shown = longest[list(_COLUMNS)].rename(columns=_COLUMNS)
    table = shown.to_html(index=False, escape=True, float_format="{:,.2f}".format, na_rep="–")
    return f"<p>{head}</p>\n{table}"

"""Estimates of sampled runs in the terminal."""

from typing import TYPE_CHECKING

import click

from lockstep.cli.console import console_of

if TYPE_CHECKING:
    from lockstep.sampling import Estimate
    from lockstep.sampling.running import SampledRun


WHY_UNBOUNDED = "fewer than two launches ran both ways: pairs=N draws one in N"


def estimate_line(outcome: "SampledRun") -> str:
    """The estimate of all launches in a line."""
    plan, cycles = outcome.plan, outcome.cycles
    part, why = "", ""
    if outcome.in_part:
        part = f", {outcome.in_part:,} of them in part"
        why = "" if cycles.bounded or outcome.paired > 1 else f" ({WHY_UNBOUNDED})"
    said = (
        f"Estimated from {len(plan.chosen):,} of {len(plan):,} launches{part}: {cycles.total:,.0f} "
        f"cycles, {interval(cycles)}{why}; {outcome.speedup:,.1f} times fewer cycles simulated"
    )
    return "; ".join([said, *outcome.remarks])


def show_estimate(outcome: "SampledRun", detail: str, err: bool = False) -> None:
    """Print the estimate of all launches, and with ``detail`` "full" a row a kernel."""
    click.echo(estimate_line(outcome), err=err)
    if detail == "full":
        from lockstep.report.columns import Column, Kind, table
        from lockstep.report.figures import count, kernel_name

        console = console_of(stderr=err)
        headings = [("launches", 3), ("simulated", 2), ("estimated cycles", 1), ("half width", 1)]
        columns = [Column("kernel", Kind.NAME), *(Column(h, rank=r) for h, r in headings)]
        rows = [
            [
                kernel_name(row.kernel),
                count(row.launches),
                count(row.simulated),
                count(round(row.estimated)) if row.estimated == row.estimated else "",
                _half(row.low, row.high, row.estimated),
            ]
            for row in outcome.by_kernel()
        ]
        console.print(table(columns, rows, console.width))


def interval(estimate: "Estimate", form: str = ",.0f") -> str:
    """The interval of an estimate in words, its ends as numbers of a format."""
    if not estimate.bounded:
        return "no bound"
    return (
        f"{estimate.low:{form}} to {estimate.high:{form}} with {100 * estimate.confidence:g} % "
        f"confidence (±{100 * estimate.half_width:.2g} %)"
    )


def _half(low: float, high: float, total: float) -> str:
    if low != low or not total:
        return ""
    return f"±{50 * (high - low) / total:.2g} %"

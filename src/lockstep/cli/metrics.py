"""``lockstep metrics``: what there is to know of a result, and what others call it."""

from typing import TYPE_CHECKING

import click

from lockstep.cli.console import console_of
from lockstep.cli.known import METRIC_NAME
from lockstep.errors import LockstepError, suggestion

if TYPE_CHECKING:
    from lockstep.metrics.metric import Metric

PIPE_WIDTH = 120
EXPLAINED = 3  # metrics at most that are told in full


@click.command()
@click.argument("pattern", type=METRIC_NAME, metavar="[PATTERN]", required=False, default="")
def command(pattern) -> None:
    """List the metrics of results whose name, or another name of theirs, contains PATTERN.

    PATTERN may have `*` for any characters. Other names are those of Nsight Compute and GPGPU-Sim.
    Few metrics are told in full, with their formula.
    """
    from rich.text import Text

    from lockstep.report.columns import Column, Kind, table

    found = matching(pattern)
    if not found:
        near = suggestion(pattern, _names()) or "; lockstep metrics lists all"
        raise LockstepError(f"no metric is called {pattern!r}{near}")
    console = console_of(pipe_width=PIPE_WIDTH)
    if len(found) <= EXPLAINED:
        for metric in found:
            console.print(Text("\n".join(explained(metric))))
        return
    columns = (Column("metric", Kind.NAME), Column("unit", Kind.WORD), Column("is", Kind.PROSE))
    rows = [[metric.name, metric.unit, metric.meaning] for metric in found]
    console.print(table(columns, rows, console.width))


def matching(pattern: str) -> "list[Metric]":
    """The metrics that a pattern means, in the order of the registry."""
    from fnmatch import fnmatchcase

    from lockstep.metrics import aliases, registry

    wanted = f"*{pattern.lower()}*"
    return [
        metric
        for metric in registry.REGISTRY
        if any(
            fnmatchcase(name.lower(), wanted)
            for name in (metric.name, *_keyed(metric), *(a.name for a in aliases.of(metric.name)))
        )
    ]


def _names() -> list[str]:
    """Every name of a metric, also those that others have for it."""
    from lockstep.metrics import aliases, registry

    return [
        name
        for metric in registry.REGISTRY
        for name in (metric.name, *(alias.name for alias in aliases.of(metric.name)))
    ]


def _keyed(metric: "Metric") -> list[str]:
    """The names of a metric that there is one of for each of several keys, on any GPU."""
    from lockstep.gpus import library

    if metric.each is None:
        return []
    return [name for gpu in ("QV100", "HD7770") for name, _ in metric.expand(library.gpu(gpu))]


def explained(metric: "Metric") -> list[str]:
    """All there is to say of a metric, in lines."""
    from lockstep.metrics import aliases, document

    lines = [f"{metric.name} ({metric.unit})", f"  {metric.meaning}"]
    lines.append(f"  = {document.formula_of(metric)}")
    for alias in aliases.of(metric.name):
        lines.append(f"  {alias.name}: {alias.differs or 'the same'}")
    return lines

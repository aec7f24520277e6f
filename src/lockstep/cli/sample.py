"""``lockstep sample``: a launch table in; a plan out, or a comparison of samplers."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lockstep.cli.console import console_of
from lockstep.cli.parameters import FILE, POSITIVE, ShareType, check_writable
from lockstep.cli.sampled import interval
from lockstep.errors import LockstepError, unknown

if TYPE_CHECKING:
    import numpy
    import pandas
    from rich.table import Table

    from lockstep.sampling import LaunchTable, Plan, Sampler


@click.command()
@click.argument("table", type=FILE, metavar="TABLE")
@click.option("--method", default="bounded", show_default=True, help="The sampler.")
@click.option(
    "--error",
    type=ShareType(),
    metavar="SHARE",
    help="Of samplers that have it, e.g. 1%: the goal.",
)
@click.option(
    "--confidence", type=ShareType(), default="95%", show_default=True, help="Of the interval."
)
@click.option(
    "--option", "options", multiple=True, metavar="K=V", help="Another parameter of the sampler."
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of what is drawn."
)
@click.option(
    "--seen",
    type=(FILE, FILE),
    metavar="PLAN RUN",
    help="Go on from a plan and the --json of its run: draw what is still wanted.",
)
@click.option(
    "--against",
    type=FILE,
    metavar="FILE",
    help="The same launches on another GPU: a table with times, or with --seen the --json of a run "
    "of PLAN. Estimates the ratio.",
)
@click.option("--output", "-o", type=FILE, metavar="FILE", help="Write the plan, JSON.")
@click.option(
    "--compare", metavar="NAMES", help="Compare samplers, a,b,c or all, on a table with times."
)
@click.option(
    "--seeds", type=POSITIVE, default=100, show_default=True, help="Of each, in a comparison."
)
@click.option("--truth", type=FILE, metavar="TABLE", help="A table that has the times.")
@click.option("--csv", "csv_file", type=FILE, metavar="FILE", help="Write the comparison.")
@click.option("--plot", type=FILE, metavar="FILE", help="Draw it, or the plan: .png or .svg.")
@click.option(
    "--over",
    metavar="COLUMN",
    help="With --plot: times over a column of TABLE, in the colours of strata.",
)
def command(table, method, error, confidence, options, seed, seen, against, output, compare, seeds,
            truth, csv_file, plot, over) -> None:  # fmt: skip
    """Choose launches of a launch table to simulate, so that they stand for all.

    TABLE is what `lockstep profile` writes. `lockstep run --timing plan:FILE` simulates what the
    plan chooses, and estimates the rest. Where the table has times, samplers that go by what they
    have seen see these; without, the plan is what they begin with, and --seen goes on.
    """
    from lockstep.sampling.sampler import OneStep

    for path in (output, csv_file, plot):
        check_writable(path)
    known = read_table(table, truth)
    if over and (compare or not plot):
        raise click.UsageError("--over is of the --plot of a plan")
    if against and compare:
        raise click.UsageError("--against is of a plan, and --compare of samplers")
    if against and not (seen or known.has_times):
        raise click.UsageError("--against needs times of TABLE, or --seen PLAN RUN")
    if compare:
        show_comparison(known, compare, seeds, confidence, csv_file, plot)
        return
    if csv_file:
        raise click.UsageError("--csv is of a comparison: --compare all")
    if against and seen:
        show_ratio(*runs_of(known, seen, against), against, "cycles", confidence)
    chosen = make(method, error, confidence, options)
    plan = go_on(chosen, known, seen, seed) if seen else begin(chosen, known, seed)
    if plan is None:
        final = isinstance(chosen, OneStep)
        why = f"a plan of {chosen.name} is final" if final else "the interval is as narrow as asked"
        click.echo(f"Nothing more is wanted: {why}.")
        return
    describe(plan, known, confidence)
    if against and not seen:
        other = read_table(table, against)
        if other.unit != known.unit:
            raise LockstepError(f"{against} has times in {other.unit}, {table} in {known.unit}")
        pairs = known.times[plan.chosen], other.times[plan.chosen]
        show_ratio(plan, *pairs, against, known.unit, confidence)
    if plot:
        draw_plan(plan, known, over, plot)
    if output:
        plan.write(output)


def read_table(path: Path, truth: Path | None) -> "LaunchTable":
    """The table, with the times of another one of the same launches."""
    from lockstep.sampling import LaunchTable

    table = LaunchTable.read(path)
    if truth is None:
        return table
    other = LaunchTable.read(truth)
    if len(other) != len(table):
        raise LockstepError(f"{truth} has {len(other)} launches, and {path} {len(table)}")
    if other.digest != table.digest:
        raise LockstepError(f"{truth} and {path} are of different launches")
    return LaunchTable(table.frame.assign(time=other.times), other.unit, other.source)


def make(
    method: str, error: float | None, confidence: float, options: tuple[str, ...]
) -> "Sampler":
    """The sampler that was asked for, with its parameters."""
    from lockstep.sampling import sampler

    parameters: dict[str, Any] = dict(map(parameter, options))
    if error is not None:
        parameters["error"] = error
    if method == "bounded":
        parameters.setdefault("confidence", confidence)
    return sampler(method, **parameters)


def parameter(text: str) -> tuple[str, Any]:
    """``name=value``: a whole number, a number, yes or no, or a text."""
    name, equals, value = text.partition("=")
    if not (name.isidentifier() and equals and value):
        raise click.UsageError(f"--option {text!r}: expected NAME=VALUE")
    if value in ("yes", "no"):
        return name, value == "yes"
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value


def begin(chosen: "Sampler", table: "LaunchTable", seed: int) -> "Plan":
    """A plan of the whole table; as far as times are known, the last one."""
    import numpy as np

    from lockstep.sampling.sampler import check, draw

    if table.has_times:
        return draw(chosen, table, seed, lambda rows: table.times[rows])[0]
    check(chosen, table)
    return chosen.plan(table, np.random.default_rng(seed))


def go_on(
    chosen: "Sampler", table: "LaunchTable", seen: tuple[Path, Path], seed: int
) -> "Plan | None":
    """What is wanted beside the launches of a plan that was run; None if nothing is."""
    import numpy as np

    from lockstep.sampling import Plan
    from lockstep.sampling.seen import read_seen

    plan = Plan.read(seen[0])
    plan.check_table(table)
    if plan.sampler != chosen.name:
        raise LockstepError(f"{seen[0]} was made by {plan.sampler}: --method {plan.sampler}")
    # Another stream of numbers for each step: what was drawn before is not drawn alike again.
    random = np.random.default_rng((seed, len(plan.chosen)))
    return chosen.more(table, plan, read_seen(seen[1], plan), random)


def draw_plan(plan: "Plan", table: "LaunchTable", over: str | None, path: Path) -> None:
    """The plot of a plan: times cumulated, or over a column of the table."""
    from lockstep.report.pictures import write_plot
    from lockstep.sampling.plots import cumulated, strata

    if over is None:
        figure = cumulated(plan, table.times, table.unit)
    else:
        numbers = list(map(str, table.frame.select_dtypes("number")))
        if over not in numbers:
            raise LockstepError(unknown("column of numbers", over, numbers))
        figure = strata(plan, table.column(over), table.times, (over, table.unit))
    write_plot(figure, path)


def runs_of(
    table: "LaunchTable", seen: tuple[Path, Path], against: Path
) -> "tuple[Plan, numpy.ndarray, numpy.ndarray]":
    """A plan, and the cycles of what it chooses in two runs of it."""
    from lockstep.sampling import Plan
    from lockstep.sampling.seen import read_seen

    plan = Plan.read(seen[0])
    plan.check_table(table)
    return plan, read_seen(seen[1], plan), read_seen(against, plan)


def show_ratio(
    plan: "Plan",
    times: "numpy.ndarray",
    others: "numpy.ndarray",
    against: Path,
    unit: str,
    confidence: float,
) -> None:
    """Print how much longer all launches take by ``others``, which are those of a file."""
    from lockstep.sampling import estimate_ratio

    found = estimate_ratio(plan, others, times, confidence)
    click.echo(
        f"{against}: all launches take {found.total:.4g} times as many {unit}, "
        f"{interval(found, '.4g')}; from {len(plan.chosen):,} pairs"
    )


def describe(plan: "Plan", table: "LaunchTable", confidence: float) -> None:
    """Print what the plan chooses, and what it gives on the table's times."""
    from lockstep.sampling import estimate

    click.echo(
        f"{plan.sampler}: {len(plan.chosen):,} of {len(plan):,} launches in "
        f"{len(plan.sizes):,} strata"
    )
    for note in plan.notes:
        click.echo(f"  {note}")
    if not table.has_times:
        return
    times = table.times
    found = estimate(plan, times[plan.chosen], confidence)
    truth, simulated = times.sum(), times[plan.chosen].sum()
    click.echo(
        f"Of the table's times ({table.source or 'source unknown'}): {found.total:,.0f} "
        f"{table.unit}, {interval(found)}; all launches take {truth:,.0f} "
        f"({100 * (found.total / truth - 1):+.2f} %), the chosen ones "
        f"{truth / simulated:,.1f} times less"
    )


def show_comparison(
    table: "LaunchTable",
    names: str,
    seeds: int,
    confidence: float,
    csv_file: Path | None,
    plot: Path | None,
) -> None:
    """Compare samplers, print the table, and write what was asked for."""
    from lockstep.metrics import output
    from lockstep.sampling import SAMPLERS, sampler
    from lockstep.sampling.comparison import compare

    chosen = list(SAMPLERS) if names == "all" else names.split(",")
    found = compare(table, {name: sampler(name) for name in chosen}, seeds, confidence=confidence)
    console = console_of()
    console.print(comparison_table(found, console.width))
    for row in found[found["error"].isna()].itertuples():
        click.echo(f"{row.sampler}: {row.notes}")
    if csv_file:
        output.write_csv(csv_file, found)
    if plot:
        from lockstep.report.pictures import write_plot
        from lockstep.sampling.plots import error_over_speedup

        write_plot(error_over_speedup(found), plot)


def comparison_table(found: "pandas.DataFrame", width: int) -> "Table":
    """The rows of a comparison that have a result."""
    from lockstep.report.columns import Column, Kind, table

    headings = [("of time", 6), ("launches", 4), ("times less", 1), ("error", 0), ("worst", 2),
                ("interval holds", 3), ("half width", 5)]  # fmt: skip
    columns = [Column("sampler", Kind.NAME), *(Column(h, rank=r) for h, r in headings)]
    rows = [
        [
            row["sampler"],
            "" if row["at"] != row["at"] else f"{row['at']:.2%}",
            f"{row['chosen']:,.0f}",
            f"{row['s_cycles']:,.1f}",
            f"{row['error']:.2%}",
            f"{row['worst']:.2%}",
            f"{row['coverage']:.1%}" if row["bounded"] else "no bound",
            f"±{row['half_width']:.2%}" if row["bounded"] else "",
        ]
        for row in found[found["error"].notna()].to_dict("records")
    ]
    return table(columns, rows, width)

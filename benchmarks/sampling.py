"""All samplers on all workloads: error, interval and speed-up, as Markdown tables.

    python benchmarks/sampling.py [--truth DIR] [--synthetic LAUNCHES ...]
        [--outliers LAUNCHES ...] [--times FILE] [--launches FILE [--by COLUMN]]
        [--seeds 200] [--samplers NAME ...] [--rows FILE]

Workloads are full simulations (``sampling_truth.py`` makes them), made-up tables (of times that
drift, or have outliers, too), a CSV file with a column of times a kernel, and measured launches.
Each sampler gets the same table; one that needs no times gets none. ``online`` is the sampling of a
running program, fed with the launches and times of the table. A row a sampler, then one a sampler
and share of simulated time. What clusters, and ``online``, take longer: they have ``--few`` seeds.
``--rows`` writes all numbers as CSV.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import pandas as pd
import sampling_tables
from sampling_online import OnePass
from sampling_truth import Truth

from lockstep.errors import LockstepError
from lockstep.sampling import LaunchTable, compare, sampler
from lockstep.sampling.comparison import SHARES
from lockstep.sampling.sampler import Sampler

SAMPLERS: dict[str, tuple[str, dict]] = {
    "bounded 1 %": ("bounded", {}),
    "bounded 0.5 %": ("bounded", {"error": 0.005}),
    "random 1/100": ("random", {}),
    "systematic 1/100": ("systematic", {}),
    "stem 5 %": ("stem", {}),
    "stem 5 %, 2 each": ("stem", {"least": 2}),
    "stem 1 %, 2 each": ("stem", {"error": 0.01, "least": 2}),
    "photon": ("photon", {}),
    "sieve, instructions": ("sieve", {}),
    "sieve, launches": ("sieve", {"weights": "count"}),
    "first 10^9": ("first-instructions", {}),
    "single iteration": ("single-iteration", {}),
    "pks, first": ("pks", {}),
    "pks, random": ("pks", {"pick": "random"}),
    "pks, centre": ("pks", {"pick": "centre"}),
    "pks, no times": ("pks", {"without_times": True}),
    "two-level": ("two-level", {}),
    "tbpoint": ("tbpoint", {}),
}
ONLINE = "online 1 %"
CLUSTERING = ("pks", "two-level", "tbpoint")  # first words of those that take long
HEAD = (
    "sampler", "needs", "at", "simulated", "s_cycles", "error, %", "worst, %", "holds, %",
    "half width, %", "seeds",
)  # fmt: skip


def workloads(options: argparse.Namespace) -> Iterator[tuple[str, LaunchTable]]:
    """Names and tables with times."""
    for path in sorted(options.truth.glob("*.parquet")) if options.truth else ():
        yield path.stem, Truth.read(path).table
    for path in options.times:
        yield path.name.partition(".")[0], sampling_tables.columns(path)
    for path in options.launches:
        yield from sampling_tables.measured(path, options.by)
    for launches in options.synthetic:
        yield f"synthetic-{launches}", sampling_tables.synthetic(launches)
    for launches in options.outliers:
        yield f"outliers-{launches}", sampling_tables.synthetic(launches, outliers=True)


def needs(method: Sampler) -> str:
    """What a sampler must know of all launches."""
    level = ("launches", "profile", "blocks", "memory")[method.level]
    return f"{level}, times" if method.times and not isinstance(method, OnePass) else level


def rows_of(name: str, table: LaunchTable, options: argparse.Namespace) -> Iterator[pd.DataFrame]:
    """The rows of each sampler on one workload."""
    for each in options.samplers:
        known, parameters = SAMPLERS.get(each, (ONLINE, {}))
        method = OnePass() if each == ONLINE else sampler(known, **parameters)
        few = known in CLUSTERING or isinstance(method, OnePass)
        seeds = min(options.seeds, options.few) if few else options.seeds
        begin = process_time()
        found = compare(table, {each: method}, seeds, options.shares)
        print(f"{name}: {each}, {process_time() - begin:.1f} s", file=sys.stderr, flush=True)
        yield found.assign(workload=name, needs=needs(method), launches=len(table))


def markdown(rows: pd.DataFrame) -> Iterator[str]:
    """A table of one workload."""
    yield f"| {' | '.join(HEAD)} |"
    yield "| --- " * len(HEAD) + "|"
    for row in rows.to_dict("records"):
        if pd.isna(row["s_cycles"]):
            yield f"| {row['sampler']} | {row['needs']} | {'| ' * 7}{row['notes']} |"
            continue
        held = "no bound" if pd.isna(row["coverage"]) else f"{100 * row['coverage']:.1f}"
        if 0 < row["bounded"] < 1:
            held += f" of {100 * row['bounded']:.1f}"
        half = "" if pd.isna(row["half_width"]) else f"{100 * row['half_width']:.2f}"
        at = "" if pd.isna(row["at"]) else f"{100 * row['at']:g} %"
        cells = [
            row["sampler"],
            row["needs"],
            at,
            f"{row['chosen']:,.0f}",
            f"{row['s_cycles']:.4g}",
        ]
        cells += [f"{100 * row[column]:.2f}" for column in ("error", "worst")]
        yield f"| {' | '.join([*cells, held, half, str(row['seeds'])])} |"


def main() -> None:
    """Print a table a workload."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--truth", type=Path, metavar="DIR")
    parser.add_argument("--synthetic", type=int, nargs="+", default=[], metavar="LAUNCHES")
    parser.add_argument("--outliers", type=int, nargs="+", default=[], metavar="LAUNCHES")
    parser.add_argument("--times", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--launches", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--by", metavar="COLUMN")
    parser.add_argument("--only", nargs="+", metavar="WORKLOAD")
    parser.add_argument("--samplers", nargs="+", choices=[*SAMPLERS, ONLINE], metavar="NAME",
                        default=[ONLINE, *SAMPLERS])  # fmt: skip
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--few", type=int, default=20)
    parser.add_argument("--shares", type=float, nargs="*", default=SHARES)
    parser.add_argument("--rows", type=Path, metavar="FILE")
    options = parser.parse_args()
    every: list[pd.DataFrame] = []
    for name, table in workloads(options):
        if options.only and name not in options.only:
            continue
        rows = pd.concat(list(rows_of(name, table, options)))
        every.append(rows)
        print(f"\n### {name}: {len(table):,} launches\n", *markdown(rows), sep="\n", flush=True)
        if options.rows:
            pd.concat(every).to_csv(options.rows, index=False)


if __name__ == "__main__":
    try:
        main()
    except LockstepError as error:
        sys.exit(str(error))

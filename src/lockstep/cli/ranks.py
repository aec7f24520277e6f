"""``--ranks``: machines that share a GPU, in this process or in those of an MPI program."""

import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lockstep.cli.signals import SIGNALS
from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from lockstep.engine.record import RankWork

OVER_MPI = "mpi"
LOST = 1  # exit code: there are no results
SAID = 0.5  # seconds in which rank 0 says what went wrong: mpiexec ends all after the first
LAST = 5.0  # seconds in which another rank can say that one is lost
IMBALANCE = 1.5  # times the mean work that one rank does, from which on it is said
SHORT = 1.0  # seconds of work below which nobody asks


class RankCount(click.ParamType):
    """How many machines there are in this process, or ``mpi``."""

    name = "N|mpi"

    def convert(self, value, param, ctx) -> int | str:
        """Parse the number."""
        if isinstance(value, int) or value == OVER_MPI:
            return value
        if not value.isdecimal() or not 0 < len(value) <= 9 or not int(value):
            self.fail(f"{value!r}; expected a number from 1 on, or {OVER_MPI}", param, ctx)
        return int(value)


RANKS = click.option(
    "--ranks",
    type=RankCount(),
    default=1,
    show_default=True,
    help="Machines that share the GPU: in this process, or mpi, the processes of mpiexec.",
)


class Reach:
    """Whom this process works with."""

    def __init__(self, ranks: Any):
        """``ranks``: as of :func:`lockstep.simulate`."""
        self.ranks = ranks

    @property
    def silent(self) -> bool:
        """Whether another process prints and writes."""
        return not isinstance(self.ranks, int) and self.ranks.rank > 0

    def leave(self, partial: bool) -> None:
        """End here, with the exit code of the others, if another process prints and writes."""
        if self.silent:
            raise SystemExit(int(partial))


@contextmanager
def one_of_several(ranks: int | str, checkpoint: Path | None) -> Iterator[Reach]:
    """What ``--ranks`` means; what is printed, and errors, are said by one process."""
    if isinstance(ranks, int):
        yield Reach(ranks)
        return
    from lockstep.engine import mpi

    reach = Reach(1)
    try:
        with mpi.reached(mpi.world()) as transport, ExitStack() as output:
            reach.ranks = transport
            if reach.silent:
                nothing = output.enter_context(open(os.devnull, "w", encoding="utf-8"))
                output.enter_context(redirect_stdout(nothing))
                output.enter_context(redirect_stderr(nothing))
            yield reach
    except (LockstepError, KeyboardInterrupt):
        if not isinstance(reach.ranks, int) and reach.ranks.lost:
            _end_without(reach.ranks, checkpoint)
        if not reach.silent:
            raise
        time.sleep(SAID)
        raise SystemExit(2) from None


def _end_without(transport: Any, checkpoint: Path | None) -> None:
    """Say who is lost, and how to go on, once; this process cannot end as it should.

    What started the processes ends the others meanwhile, by signals: not before that is said.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    error = transport.lost
    if transport.rank == (0 if error.rank else 1):
        lines = [f"lockstep: {error}; the others ended at cycle {error.cycle:,}, without results"]
        lines.append(_way_on(transport.size, checkpoint))
        click.echo("\n".join(lines), err=True)
        sys.stderr.flush()
    else:
        time.sleep(LAST)
    os._exit(LOST)  # MPI would wait for the lost one


def _way_on(size: int, checkpoint: Path | None) -> str:
    from lockstep.engine.checkpoint import cycle_of

    cycle = None if checkpoint is None else cycle_of(checkpoint)
    if cycle is None:
        return "lockstep: there is no checkpoint to go on from: --checkpoint-dir keeps some"
    words = [w for w in sys.argv[1:] if not w.startswith("--resume=")]
    if "--resume" in words:
        place = words.index("--resume")
        del words[place : place + 2]
    command = ["mpiexec", "-n", str(size), "lockstep", *words, "--resume", str(checkpoint)]
    return f"lockstep: go on from cycle {cycle:,} by: {shlex.join(command)}"


def tell_work(ranks: "Sequence[RankWork]") -> None:
    """Print to stderr what each rank did, if one did much more than the others."""
    if not ranks:
        return
    worked = [rank.worked for rank in ranks]
    most, mean = max(worked), sum(worked) / len(worked)
    if most < SHORT or most < IMBALANCE * mean:
        return
    slow = worked.index(most)
    click.echo(
        f"lockstep: rank {slow} on {ranks[slow].host} worked {most:.1f} s, all {mean:.1f} s on "
        "average: it is slow, or has more to do",
        err=True,
    )
    from lockstep.cli.console import console_of
    from lockstep.report.columns import Column, Kind, table

    columns = [Column("rank"), Column("host", Kind.NAME), Column("SMs"), Column("partitions")]
    columns += [Column("worked s"), Column("waited s"), Column("exchanges"), Column("sent MB")]
    rows = [
        [
            str(number), rank.host, str(rank.sms), str(rank.partitions), f"{rank.worked:.2f}",
            f"{rank.waited:.2f}", str(rank.exchanges), f"{rank.words * 8 / 1e6:.1f}",
        ]
        for number, rank in enumerate(ranks)
    ]  # fmt: skip
    console = console_of(stderr=True)
    console.print(table(columns, rows, console.width))

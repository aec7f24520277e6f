"""Options that several subcommands have, each written once."""

from collections.abc import Callable
from pathlib import Path

import click
from click.core import ParameterSource

from lockstep.cli.parameters import FILE, OUTPUT, POSITIVE, Every, MemorySize
from lockstep.cli.timing import TimingChoice


def together(*options: Callable) -> Callable[[Callable], Callable]:
    """What adds some options to a command, in this order."""

    def add(command: Callable) -> Callable:
        for option in reversed(options):
            command = option(command)
        return command

    return add


SET = click.option(
    "--set", "overrides", multiple=True, metavar="K=V", help="Change a GPU parameter."
)
TIMING = click.option(
    "--timing",
    type=TimingChoice(),
    default="full",
    show_default=True,
    help="Simulate all launches, none (fast), or some, and estimate the rest: "
    "sample:error=1%, sample:N (one in N of a kernel), plan:FILE.",
)
MEMORY = click.option(
    "--memory",
    "memory_bytes",
    type=MemorySize(),
    metavar="SIZE",
    help="Device memory, e.g. 16GB; default: the GPU's.",
)
THREADS = click.option(
    "--threads", type=POSITIVE, default=1, show_default=True, help="Host threads."
)
JSON = click.option("--json", "json_file", type=OUTPUT, help="Write all results as JSON.")
OUT = click.option("--out", type=FILE, metavar="DIR", help="Write tables, manifest and summary.")
TIMELINE = click.option(
    "--timeline", type=OUTPUT, help="Write a timeline for ui.perfetto.dev (.json.gz)."
)
REPORT = click.option(
    "--report", type=OUTPUT, help="Write one page of HTML that opens anywhere, without a network."
)
source_options = together(
    click.option(
        "--source", is_flag=True, help="Tell which source lines or instructions cost most."
    ),
    click.option(
        "--source-table",
        type=FILE,
        metavar="FILE",
        help="Write what each instruction did: .csv or .parquet.",
    ),
)
"""What each instruction did: on the terminal, and as a table."""
ADVICE = click.option("--advice", is_flag=True, help="Tell why it is slow, where, and what to do.")
advice_options = together(
    ADVICE,
    click.option(
        "--what-if",
        is_flag=True,
        help="Simulate again without each limit that the advice names; implies --advice.",
    ),
    click.option(
        "--lift",
        "lifted",
        metavar="NAMES",
        help="Of --what-if: these limits, with commas between them, or all; implies --what-if.",
    ),
)
"""Why it is slow, and what it would gain: :func:`.advice.taken` takes what they say."""
INTERVAL = click.option("--interval", type=POSITIVE, metavar="CYCLES", help="Sample a time series.")
SUMMARY = click.option(
    "--summary",
    "detail",
    type=click.Choice(["full", "short"]),
    default="full",
    show_default=True,
    help="With tables, or only the first lines.",
)
QUIET = click.option("--quiet", "-q", is_flag=True, help="Print no summary and no progress.")


def _check_folder(ctx: click.Context, option: click.Parameter, folder: Path | None) -> Path | None:
    """Refuse to say how often without where; options that are not given are read last."""
    given = ctx.get_parameter_source("checkpoint_seconds") is ParameterSource.COMMANDLINE
    if given and folder is None:
        raise click.UsageError("--checkpoint needs --checkpoint-dir: nothing is written without")
    return folder


checkpoint_options = together(
    click.option(
        "--checkpoint",
        "checkpoint_seconds",
        type=Every(),
        default="every=60s",
        show_default=True,
        help="How often to write the whole state into --checkpoint-dir.",
    ),
    click.option(
        "--checkpoint-dir",
        "checkpoint",
        type=FILE,
        metavar="DIR",
        callback=_check_folder,
        help="Write checkpoints there.",
    ),
    click.option("--resume", type=FILE, metavar="DIR", help="Go on from the checkpoint in DIR."),
)
"""Where checkpoints are written, how often, and from which one a run goes on."""

"""The option ``--check``, and what is told of findings at the end of a run."""

from typing import TYPE_CHECKING

import click

from lockstep.cli.options import together
from lockstep.cli.parameters import POSITIVE, CheckedText

if TYPE_CHECKING:
    from lockstep.device import Device

FOUND = 3  # exit code if there are findings
MOST_LINES = 100


def _check_names(text: str) -> None:
    """Refuse names of checks, with commas between them, that are none."""
    from lockstep.execution.checks.kinds import checks_of

    checks_of(text)


check_options = together(
    click.option(
        "--check",
        type=CheckedText("names", _check_names),
        multiple=True,
        metavar="NAMES",
        help="Look for races, memory, init (with commas) or all; exit code 3: found.",
    ),
    click.option(
        "--check-limit",
        type=POSITIVE,
        default=MOST_LINES,
        show_default=True,
        metavar="N",
        help="Findings of --check that are printed.",
    ),
)


def tell(device: "Device", limit: int) -> int:
    """Print what checks have found on stderr, a line each; the exit code that it asks for."""
    findings = device.findings
    if not findings.checks:
        return 0
    lines = [str(finding) for finding in findings]
    for line in [*lines[:limit], *findings.information()]:
        click.echo(f"lockstep: {line}", err=True)
    more = len(lines) - limit
    if more > 0:
        click.echo(f"lockstep: {more} more findings (--check-limit)", err=True)
    click.echo(f"lockstep: {findings.summary()}", err=True)
    return FOUND if lines else 0

"""A study on a terminal and in a document: the figures of each program, then the claims."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lockstep.report.columns import Column, Kind, table
from lockstep.studies.description import Figure
from lockstep.studies.library import find, names
from lockstep.studies.outcome import Outcome

if TYPE_CHECKING:
    from rich.table import Table

VARIANTS_LISTED = 6
_CLAIMS = (
    Column("the paper", Kind.PROSE),
    Column("says", Kind.WORD),
    Column("here", Kind.WORD),
    Column("", Kind.WORD),
    Column("counters", Kind.PROSE, 1),
)
_STUDIES = (
    Column("study", Kind.WORD),
    Column("asks", Kind.PROSE),
    Column("programs", rank=1),
    Column("variants", Kind.PROSE, 0),
)
_NOT_COUNTED = "*"
_DOCUMENTED = 5  # rank of the figures that documents have room for


def listed(width: int) -> "Table":
    """The studies that there are."""
    studies = [find(name) for name in names()]
    rows = [
        [s.name, s.question, f"{len(s.programs)}", _some([v.name for v in s.variants])]
        for s in studies
    ]
    return table(_STUDIES, rows, width)


def _some(names: list[str]) -> str:
    """All of a few names, the first ones of many."""
    listed = ", ".join(names[:VARIANTS_LISTED])
    more = len(names) - VARIANTS_LISTED
    return f"{listed} and {more} more" if more > 0 else listed


def figure_rows(outcome: Outcome, shown: Sequence[Figure]) -> list[list[str]]:
    """A row of texts for each program, then the means."""
    rows = [
        [
            name if name in outcome.counted else name + _NOT_COUNTED,
            *(figure.show(numbers[figure.name]) for figure in shown),
        ]
        for name, numbers in outcome.figures.items()
    ]
    means = [f.show(outcome.means[f.name]) if f.mean else "" for f in shown]
    return [*rows, ["mean", *means]] if any(means) else rows


def claim_rows(outcome: Outcome) -> list[list[str]]:
    """A row of texts for each claim."""
    return [[c.text, c.paper, c.here, c.verdict.value, c.reason] for c in outcome.claims]


def headline(outcome: Outcome) -> str:
    """What was run."""
    runs, programs = len(outcome.rows), len(outcome.figures)
    return (
        f"{outcome.study.title}: {outcome.gpu}, size {outcome.size}, {runs} runs.\n"
        f"Means are over {len(outcome.counted)} of {programs} programs: "
        f"{outcome.study.about}"
        + (f"; {_NOT_COUNTED} marks the others" if len(outcome.counted) < programs else "")
    )


def views(outcome: Outcome, width: int) -> Iterator["Table | str"]:
    """What is printed."""
    yield headline(outcome)
    yield ""
    columns = [Column(f.name, rank=f.rank) for f in outcome.shown]
    yield table(
        [Column("program", Kind.WORD), *columns], figure_rows(outcome, outcome.shown), width
    )
    yield ""
    yield table(_CLAIMS, claim_rows(outcome), width)
    yield ""


@dataclass(frozen=True, slots=True)
class DocumentedOutcome:
    """An outcome's place in a document."""

    outcome: Outcome

    @property
    def key(self) -> str:
        """The name of the study."""
        return self.outcome.study.name

    def markdown(self) -> list[str]:
        """The claims, then the figures, as tables, and what they are of."""
        outcome = self.outcome
        shown = [figure for figure in outcome.shown if figure.rank >= _DOCUMENTED]
        heads = ["program", *(figure.name for figure in shown)]
        marks = ["---", *["---:"] * len(shown)]
        claims = [["the paper", "says", "here", "", "counters"], ["---"] * 5, *claim_rows(outcome)]
        figures = [heads, marks, *figure_rows(outcome, shown)]
        return [*_lines(claims), "", *_lines(figures), "", headline(outcome) + "."]


def _lines(rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cell.replace('*', chr(92) + '*') for cell in row)} |" for row in rows]

"""Numbers of ours beside measured ones, and what could not be compared."""

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lockstep.correlation.statistics import Statistics, relative_error
from lockstep.report import columns
from lockstep.report.columns import Column, Kind

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = (
    Column("what", Kind.NAME),
    Column("lockstep"),
    Column("reference"),
    Column("difference"),
    Column("reference from", Kind.PROSE, 1),
)

STEPS = {"dram__sectors_read.sum": 8, "dram__sectors_write.sum": 8}
"""What Nsight Compute counts on an H100 in steps of so many: all 936 numbers of the tables here are
multiples of it."""


def as_counted(counter: str, number: float) -> float:
    """A number of ours as the reference counts it: what is less than a step is not seen."""
    step = STEPS.get(counter)
    return number // step * step if step else number


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of ours beside a measured one."""

    what: str
    ours: float
    measured: float
    source: str

    @property
    def error(self) -> float:
        """Relative to the measured number."""
        return relative_error(self.ours, self.measured)

    @property
    def cells(self) -> list[str]:
        """As texts, in the order of ``COLUMNS``."""
        numbers = (f"{self.ours:,.5g}", f"{self.measured:,.5g}")
        if self.measured >= 1000:
            numbers = (f"{self.ours:,.0f}", f"{self.measured:,.0f}")
        return [self.what, *numbers, f"{100 * self.error:+.2f} %", self.source]


@dataclass(slots=True)
class Comparison:
    """Figures of one kind, and what could not be compared, a line each.

    ``key`` is its name where its table stands in a document. ``peer`` has another simulator's
    name and its relative errors of the same figures.
    """

    key: str
    title: str
    figures: list[Figure] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    peer: tuple[str, list[float]] = ("", [])

    @property
    def statistics(self) -> Statistics:
        """Of all figures."""
        return Statistics.of([f.ours for f in self.figures], [f.measured for f in self.figures])

    @property
    def coverage(self) -> str:
        """How much of what is known was compared."""
        return f"{len(self.figures)} of {len(self.figures) + len(self.skipped)} compared"

    def summary(self) -> str:
        """Errors in percent, and how much of what is measured was compared."""
        if not self.figures:
            return self.coverage
        name, errors = self.peer
        peer = ""
        if errors:
            theirs = Statistics.of([1 + e for e in errors], [1.0] * len(errors))
            peer = f"; {name} on the same: {theirs}"
        return f"error: {self.statistics}; {self.coverage}{peer}"

    def markdown(self) -> list[str]:
        """The lines of a table, with the statistics below it.

        A source that all figures have stands below it once; the reasons for what is left out are
        counted there.
        """
        sources = {f.source for f in self.figures}
        width = len(COLUMNS) - (len(sources) == 1)
        heads = [column.heading for column in COLUMNS[:width]]
        marks = ["---:" if c.kind is Kind.NUMBER else "---" for c in COLUMNS[:width]]
        lines = [heads, marks, *(f.cells[:width] for f in self.figures)]
        made = [f"| {' | '.join(cells)} |" for cells in lines] if self.figures else []
        said = f"Reference: {sources.pop()}. " if len(sources) == 1 else ""
        reasons = Counter(line.rpartition(": ")[2] for line in self.skipped)
        left = "".join(f"; {times} {reason}" for reason, times in reasons.most_common())
        summary = self.summary()
        return [*made, "", f"{said}{summary[0].upper()}{summary[1:]}{left}."]

    def table(self, width: int) -> "Table":
        """For a terminal that is so wide."""
        return columns.table(COLUMNS, [f.cells for f in self.figures], width, self.title)

    def to_dict(self) -> dict[str, Any]:
        """For a JSON file: errors are fractions."""
        rows = [
            {"what": f.what, "lockstep": f.ours, "reference": f.measured, "error": f.error,
             "source": f.source}
            for f in self.figures
        ]  # fmt: skip
        return {
            "key": self.key,
            "title": self.title,
            "statistics": self.statistics.to_dict(),
            "rows": rows,
            "skipped": self.skipped,
        }

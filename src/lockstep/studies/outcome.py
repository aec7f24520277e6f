"""What follows from the runs of a study: figures of each program, their means, claims."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lockstep import notebook
from lockstep.studies.claims import Claim
from lockstep.studies.description import HARDWARE, Counters, Figure, Runs, Study
from lockstep.studies.rows import StudyRow

if TYPE_CHECKING:
    import pandas


@dataclass(eq=False)
class Outcome:
    """The runs of a study, and what follows from them. ``gpu``: that of variants without one."""

    study: Study
    size: str
    gpu: str
    rows: list[StudyRow]
    measured: dict[str, Counters]  # of hardware, by program

    @cached_property
    def runs(self) -> Mapping[str, Runs]:
        """The counters of each program by variant."""
        found: dict[str, dict[str, Counters]] = {}
        for row in self.rows:
            found.setdefault(row.program, {})[row.variant] = row.counters
        for program in found.keys() & self.measured.keys():
            found[program][HARDWARE] = self.measured[program]
        return found

    @cached_property
    def figures(self) -> dict[str, dict[str, float]]:
        """The figures of each program, by their names."""
        return {
            program: {figure.name: figure.of(runs) for figure in self.study.figures}
            for program, runs in self.runs.items()
        }

    def _repr_html_(self) -> str:
        """What notebooks show."""
        table = [{"program": name, **values} for name, values in self.figures.items()]
        return notebook.rows(f"{self.study.name} on {self.gpu}, size {self.size}", table)

    @cached_property
    def counted(self) -> list[str]:
        """The programs that means and claims are about."""
        return [program for program, runs in self.runs.items() if self.study.counts(runs)]

    @cached_property
    def means(self) -> dict[str, float]:
        """The mean of each figure that has one, over the programs that count."""
        return {f.name: self._mean(f) for f in self.study.figures if f.mean}

    def _mean(self, figure: Figure) -> float:
        values = [self.figures[program][figure.name] for program in self.counted]
        known = [v for v in values if not math.isnan(v)]
        if not known:
            return math.nan
        if figure.mean == "geometric":
            return float(np.exp(np.mean(np.log(known)))) if min(known) > 0 else math.nan
        return float(np.mean(known))

    @property
    def shown(self) -> list[Figure]:
        """The figures that any program has."""
        return [
            figure
            for figure in self.study.figures
            if any(not math.isnan(row[figure.name]) for row in self.figures.values())
        ]

    def average(self, variant: str, counter: str) -> float:
        """The mean of a counter of a variant over the programs that count; NaN without any."""
        values = [self.runs[program][variant][counter] for program in self.counted]
        known = [v for v in values if not math.isnan(v)]
        return float(np.mean(known)) if known else math.nan

    @cached_property
    def claims(self) -> list[Claim]:
        """What the paper says beside what is found."""
        return self.study.claims(self)

    @cached_property
    def table(self) -> "pandas.DataFrame":
        """A row for each run: facts, then counters."""
        import pandas

        return pandas.DataFrame([row.record() for row in self.rows])

    def to_dict(self) -> dict[str, Any]:
        """For a JSON file; undefined numbers are still NaN here."""
        return {
            "study": self.study.name,
            "size": self.size,
            "gpu": self.gpu,
            "figures": self.figures,
            "counted": self.counted,
            "means": self.means,
            "claims": [
                {
                    "text": claim.text,
                    "paper": claim.paper,
                    "here": claim.here,
                    "verdict": claim.verdict.value,
                    "reason": claim.reason,
                }
                for claim in self.claims
            ],
        }

    def plots(self, folder: str | Path) -> list[Path]:
        """Write the charts as PNG and SVG; the files. Needs matplotlib."""
        from lockstep.studies.plots import write_charts

        return write_charts(self, Path(folder))

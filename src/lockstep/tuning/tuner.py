"""A GPU from measurements: facts, then direct inferences; what is left is the base's."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from lockstep import notebook
from lockstep.errors import SpecError
from lockstep.gpus import check, fields
from lockstep.gpus.datafile import LoadedGpu
from lockstep.gpus.spec import GPU
from lockstep.tuning import facts as facts_of
from lockstep.tuning.facts import DeviceFacts
from lockstep.tuning.inference import Inference
from lockstep.tuning.inferences import INFERENCES
from lockstep.tuning.measured import Absent, Measured
from lockstep.tuning.rows import Row, Rows
from lockstep.tuning.units import INTERVALS, OPERATIONS, misplaced

MOST_ROWS = 3  # of a benchmark that a source quotes one by one
DIGITS = 6  # of a value
_PATH = re.compile(r"[a-z]\w*(?:\.\w+)*", re.ASCII)  # of a parameter, in a sentence


@dataclass(frozen=True)
class Found:
    """What an inference made of the rows: the parameter, or for a fitted one its statistic.

    ``rows`` are those that the value comes from, ``seen`` also those that they were chosen from;
    ``said`` is what a row's notes say, where that is the value.
    """

    inference: Inference
    value: object
    rows: tuple[Row, ...]
    seen: tuple[Row, ...] = ()
    said: str = ""

    @property
    def source(self) -> str:
        """The rows, and how the parameter comes from them."""
        how = self.inference.how
        return self.quoted + (f"; {how}" if how else "")

    @property
    def quoted(self) -> str:
        """The rows, or what their notes say."""
        return f"{self.rows[0].name}: {self.said}" if self.said else quote(self.rows)


@dataclass
class Tuned:
    """A GPU in the making.

    ``parameters``: all of them, by dotted name; ``sources``: of those that are not the base's.
    ``found``: what was inferred directly; ``statistics``: what is to be fitted; ``absent``: why a
    parameter that rows could tell is the base's.
    """

    base: LoadedGpu
    facts: DeviceFacts
    parameters: dict[str, object]
    sources: dict[str, str]
    found: dict[str, Found] = field(default_factory=dict)
    statistics: dict[str, Found] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        table = [
            {"parameter": name, "value": self.parameters[name], "source": source}
            for name, source in self.sources.items()
        ]
        return notebook.rows(f"{len(table)} parameters from measurements", table)

    def gpu(self, name: str) -> GPU:
        """The GPU, checked. Raises :class:`SpecError` if its parameters cannot work together."""
        return check.check(fields.build(name, self.parameters))

    def set(self, found: Found, value: object) -> None:
        """Take a value for the parameter of an inference."""
        path = found.inference.parameter
        self.parameters[path] = fields.accept(path, value, self.parameters)
        self.sources[path] = found.source


def infer(rows: Rows, base: LoadedGpu, facts: DeviceFacts = facts_of.NONE) -> Tuned:
    """What the rows tell without any simulation."""
    parameters = fields.flatten(base.gpu)
    for name in facts.removed:
        for key in [key for key in parameters if key == name or key.startswith(f"{name}.")]:
            del parameters[key]
    tuned = Tuned(base, facts, parameters | facts.values, dict(facts.sources))
    for inference in INFERENCES:
        if inference.parameter not in facts.values:
            _infer(inference, rows, tuned)
    _reconcile(tuned, parameters | facts.values)
    return tuned


def _reconcile(tuned: Tuned, before: dict[str, object]) -> None:
    """Take back what was found and cannot be beside what the base has, so that the rest counts.

    ``before``: the parameters without what was found. Latencies come first: an interval without
    one has no place either. What is wrong with base and facts alone stays: it is not the rows'.
    """
    for table in (OPERATIONS, INTERVALS):
        for path in [path for path in tuned.found if f".{table}." in path]:
            if why := misplaced(path, tuned.parameters):
                _take_back(tuned, path, before, why)
    while problem := _problem(tuned):
        named = set(_PATH.findall(problem))
        wrong = [path for path in tuned.found if path in named]
        if not wrong:
            return
        _take_back(tuned, wrong[-1], before, problem)


def _problem(tuned: Tuned) -> str:
    """What is wrong with the GPU as it is; empty if nothing is."""
    try:
        tuned.gpu(tuned.base.gpu.name)
    except SpecError as error:
        return str(error)
    return ""


def _take_back(tuned: Tuned, path: str, before: dict[str, object], why: str) -> None:
    tuned.absent[path] = f"{tuned.found.pop(path).quoted}: {why}"
    del tuned.parameters[path], tuned.sources[path]
    if path in before:
        tuned.parameters[path] = before[path]


def _infer(inference: Inference, rows: Rows, tuned: Tuned) -> None:
    if inference.fit:
        found = _read(inference, rows, tuned)
        if found:
            tuned.statistics[inference.parameter] = found
        if not (found and inference.fit.estimate):
            return
        inference = replace(inference, read=inference.fit.estimate, fit=None)
    found = _read(inference, rows, tuned)
    if not found:
        return
    try:
        tuned.set(found, found.value)
        tuned.found[inference.parameter] = found
    except SpecError as error:
        tuned.absent[inference.parameter] = f"{found.quoted}: {error}"


def _read(inference: Inference, rows: Rows, tuned: Tuned) -> Found | None:
    """What an inference makes of the rows; None if it lacks some, which is noted."""
    m = Measured(rows, tuned.parameters)
    try:
        return Found(inference, inference.read(m), tuple(m.used), tuple(m.seen), m.said)
    except Absent as absent:
        tuned.absent[inference.parameter] = str(absent)
        return None


def quote(rows: Sequence[Row]) -> str:
    """Rows as a source names them: name, values, parameters; those of a benchmark together."""
    return ", ".join(_quoted(list(same)) for _, same in groupby(rows, lambda row: row.name))


def _quoted(rows: list[Row]) -> str:
    shown = rows if len(rows) <= MOST_ROWS else [rows[0], rows[-1]]
    between = ", " if len(rows) <= MOST_ROWS else " to "
    values = between.join(f"{row.value:.{DIGITS}g}" for row in shown)
    parameters = "; ".join(row.parameters for row in shown if row.parameters)
    more = f", {len(rows)} rows" if len(rows) > MOST_ROWS else ""
    return f"{rows[0].name}: {values} {rows[0].unit}" + (
        f" ({parameters}{more})" if parameters else ""
    )

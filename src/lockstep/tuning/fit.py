"""Parameters that no row tells by itself: with them, simulated rows are the measured ones.

All are sought together: a simulation of the rows that they need, a step of each by the slope of its
statistic, and again, until none moves or so many rounds are over. Parameters that act on each
other's rows settle so, too.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec import inspect

from lockstep.errors import SpecError
from lockstep.gpus import fields
from lockstep.gpus.spec import GPU
from lockstep.tuning.measured import Absent, Measured
from lockstep.tuning.rows import Row, Rows
from lockstep.tuning.tuner import Found, Tuned

ROUNDS = 6  # simulations at most
TRUST = 4.0  # how much steeper or flatter than said a slope may be found
FINE = 1e-3  # of a parameter that is no whole number: how exactly it is sought

Say = Callable[[str], None]
Simulate = Callable[[GPU, Sequence[Row]], Rows]
"""The rows of a GPU in simulation that are the counterparts of measured ones."""


class Try(NamedTuple):
    """A value of a parameter, and by how much the statistic is then too low."""

    value: float
    error: float


@dataclass
class Search:
    """The search for one parameter. ``tries`` are in the order in which they were made."""

    found: Found
    whole: bool
    tries: list[Try] = field(default_factory=list)
    failed: str = ""  # why its rows cannot be simulated

    def slope(self) -> float:
        """Change of the statistic for a unit of the parameter, by the last two tries."""
        assert self.found.inference.fit is not None, "it is fitted"
        given = self.found.inference.fit.slope
        if len(self.tries) < 2:
            return given
        (v0, e0), (v1, e1) = self.tries[-2:]
        seen = (e0 - e1) / (v1 - v0) if v1 != v0 else given
        return seen if 1 / TRUST <= seen / given <= TRUST else given

    def next(self) -> float:
        """The value to try next, in its range: the last one if nothing better is near."""
        last = self.tries[-1]
        step = last.error / self.slope()
        if self.whole:
            step = round(step)
        elif abs(step) < FINE * abs(last.value):
            step = 0.0
        kind = fields.parameter(self.found.inference.parameter).kind
        assert isinstance(kind, inspect.IntType | inspect.FloatType), "it is a number"
        assert kind.ge is not None and kind.le is not None, "and has limits"
        return min(max(last.value + step, kind.ge), kind.le)

    def best(self) -> float:
        """The value with the smallest error."""
        return min(self.tries, key=lambda t: abs(t.error)).value


def fit(
    tuned: Tuned, rows: Rows, simulate: Simulate, rounds: int = ROUNDS, say: Say = lambda text: None
) -> None:
    """Seek what ``tuned.statistics`` has; what is found moves to ``tuned.found``.

    What cannot be simulated stays the base's and is told in ``tuned.absent``.
    """
    searches = {
        path: Search(found, isinstance(tuned.parameters[path], int))
        for path, found in tuned.statistics.items()
    }
    moved = list(searches)
    for number in range(1, rounds + 1):
        running = {path: search for path, search in searches.items() if not search.failed}
        if not (moved and running):
            break
        say(f"round {number} of at most {rounds}: {', '.join(moved)}")
        needed = [row for search in running.values() for row in search.found.seen]
        result = simulate(tuned.gpu(tuned.base.gpu.name), needed)
        for path, search in running.items():
            _compare(path, search, tuned, rows, result)
        moved = [path for path, search in running.items() if _step(path, search, tuned)]
    for path, search in searches.items():
        _take(path, search, tuned, settled=path not in moved)


def _compare(path: str, search: Search, tuned: Tuned, rows: Rows, result: Rows) -> None:
    """Note by how much the statistic is too low with the present value."""
    inference = search.found.inference
    ours, theirs = in_common(rows, result, [row.name for row in search.found.rows])
    try:
        wanted = inference.read(Measured(ours, tuned.parameters))
        got = inference.read(Measured(theirs, tuned.parameters))
    except Absent as absent:
        search.failed = f"not in simulation: {absent}"
        return
    search.tries.append(Try(tuned.parameters[path], wanted - got))


def _step(path: str, search: Search, tuned: Tuned) -> bool:
    """Set the next value; whether it is another one."""
    if search.failed:
        return False
    before = tuned.parameters[path]
    try:
        tuned.parameters[path] = fields.accept(path, search.next(), tuned.parameters)
        tuned.gpu("any")
    except SpecError as error:
        tuned.parameters[path] = before
        search.failed = str(error)
    return tuned.parameters[path] != before


def _take(path: str, search: Search, tuned: Tuned, settled: bool) -> None:
    if not search.failed and search.tries:
        tuned.set(search.found, tuned.parameters[path] if settled else search.best())
        tuned.found[path] = search.found
        return
    estimate = tuned.found.get(path)
    if estimate:
        tuned.set(estimate, estimate.value)
        return
    tuned.absent[path] = search.failed or "no simulation"
    tuned.parameters[path] = fields.flatten(tuned.base.gpu)[path]


def in_common(measured: Rows, simulated: Rows, names: Iterable[str]) -> tuple[Rows, Rows]:
    """Both with the same rows of the benchmarks ``names``, where there are any in common."""
    ours, theirs = [], []
    for name in dict.fromkeys(names):
        texts = {row.parameters for row in measured.named(name)}
        both = texts & {row.parameters for row in simulated.named(name)}
        ours += [row for row in measured.named(name) if not both or row.parameters in both]
        theirs += [row for row in simulated.named(name) if not both or row.parameters in both]
    return Rows(measured.path, tuple(ours)), Rows(simulated.path, tuple(theirs))

"""A campaign: points, each evaluated once, in any order, into one table in theirs."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, Self

from lockstep import notebook
from lockstep.campaigns.attempts import Attempt, Evaluate
from lockstep.campaigns.evaluators import evaluate
from lockstep.campaigns.executors import PointExecutor, executor
from lockstep.campaigns.journal import PointJournal
from lockstep.errors import LockstepError

if TYPE_CHECKING:
    import pandas

ATTEMPTS = 2  # at a point that fails, or whose worker dies
DIGEST, ERROR = "digest", "error"  # the columns between what a point is and its values


def evaluated(
    points: Sequence[object], workers: PointExecutor
) -> Iterator[tuple[int, Attempt, int]]:
    """Numbers of points as they end, what came of each, and after how many attempts."""
    waiting, again = iter(range(len(points))), list[int]()
    attempts: Counter[int] = Counter()
    held = 0
    while True:
        while held < workers.room:
            number = again.pop() if again else next(waiting, -1)
            if number < 0:
                break
            attempts[number] += 1
            workers.submit(number, points[number])
            held += 1
        if not held:
            return
        number, outcome = workers.next()
        held -= 1
        if outcome.error and attempts[number] < ATTEMPTS:
            again.append(number)
        else:
            yield number, outcome, attempts.pop(number)


class CampaignPoint(Protocol):
    """What can be evaluated: :class:`lockstep.SweepPoint`, or a class of one's own.

    Points go to workers, so they can be pickled.
    """

    @property
    def digest(self) -> str:
        """What the values depend on: two points with the same digest have the same values."""
        ...

    @property
    def facts(self) -> Mapping[str, Any]:
        """What tells the point from others: the first columns of the table."""
        ...


class CampaignState:
    """How far a campaign is: points, those of them that are done, and those that failed."""

    def __init__(self, points: int):
        self.points, self.done, self.failed = points, 0, 0
        self._began, self._made = monotonic(), 0

    def note(self, outcome: Attempt, made: bool) -> None:
        """Count an outcome; ``made``: by this run, and not read."""
        self.done += 1
        self.failed += bool(outcome.error)
        self._made += made

    @property
    def seconds_left(self) -> float:
        """Until all are done, at the rate of this run so far; NaN before its first point."""
        if not self._made:
            return 0.0 if self.done == self.points else float("nan")
        return (monotonic() - self._began) / self._made * (self.points - self.done)


Report = Callable[[CampaignState], object]


class Campaign:
    """Points and what is known of them; a context manager, which others cannot write beside.

    ``journal``: the file in which that is kept, if any. ``run`` is a function of a module: it goes
    to workers. A point without a digest, because what it names is not there or not allowed, has
    failed; raises its error if there is no other point.
    """

    def __init__(
        self, points: Iterable[CampaignPoint], run: Evaluate, journal: str | Path | None = None
    ):
        self._points, self._run = list(points), run
        self._digests: list[str] = []
        self._refused: dict[int, Attempt] = {}
        for number, point in enumerate(self._points):
            try:
                self._digests.append(point.digest)
            except LockstepError as error:
                self._digests.append("")
                self._refused[number] = Attempt({}, str(error))
        if self._refused and len(self._refused) == len(self._points):
            raise LockstepError(self._refused[0].error)
        self._journal = PointJournal(journal)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()

    def _repr_html_(self) -> str:
        """What notebooks show."""
        known = [self.outcome(number) for number in range(len(self._points))]
        done = [attempt for attempt in known if attempt is not None]
        failed = sum(bool(attempt.error) for attempt in done)
        counts = {"points": len(known), "known": len(done), "failed": failed}
        return notebook.facts("Campaign", counts)

    def outcome(self, number: int) -> Attempt | None:
        """What came of a point, if that is known."""
        return self._refused.get(number) or self._journal.get(self._digests[number])

    def run(
        self,
        make: Callable[[Evaluate], PointExecutor],
        retry: bool = False,
        progress: Report | None = None,
    ) -> None:
        """Evaluate what is not known; ``retry``: also what has failed.

        ``make``: an executor for the function. After an exception, such as a Ctrl-C, what has
        ended by then is known.
        """
        state = CampaignState(len(self._points))
        waiting: dict[str, list[int]] = {}  # points with one digest are one
        for number, digest in enumerate(self._digests):
            known = self.outcome(number)
            if known is None or (retry and known.error and digest):
                waiting.setdefault(digest, []).append(number)
            else:
                state.note(known, made=False)
        report = progress or (lambda state: None)
        report(state)
        if not waiting:
            return
        workers, ended = make(self._run), False
        try:
            numbers = list(waiting.values())
            points = [self._points[first] for first, *_ in numbers]
            for number, outcome, attempts in evaluated(points, workers):
                self._journal.add(self._digests[numbers[number][0]], outcome, attempts)
                for _ in numbers[number]:
                    state.note(outcome, made=True)
                report(state)
            ended = True
        finally:
            workers.close(now=not ended)

    def table(self) -> "pandas.DataFrame":
        """A row a point that is done, in their order: what it is, digest, error, its values.

        Values that a point does not have are NaN. The order in which points ended, and what had
        to be tried again, cannot be told from it.
        """
        import pandas

        rows = [(n, self.outcome(n)) for n in range(len(self._points))]
        done = [(n, found) for n, found in rows if found is not None]
        facts = [dict(self._points[n].facts) for n, _ in done]
        heads = list(dict.fromkeys(name for row in facts for name in row))
        names = list(dict.fromkeys(name for _, found in done for name in found.values))
        if both := sorted({*heads, DIGEST, ERROR} & set(names)):
            raise LockstepError(f"{both[0]} is a value, and says what a point is: rename one")
        columns = {name: _alike([row.get(name) for row in facts]) for name in heads}
        columns[DIGEST] = [self._digests[n] for n, _ in done]
        columns[ERROR] = [found.error for _, found in done]
        for name in names:
            columns[name] = _alike([found.values.get(name) for _, found in done])
        return pandas.DataFrame(columns)


def _alike(values: list) -> "list | pandas.api.extensions.ExtensionArray":
    """The values of a column: texts, if some are; integers stay so where some are not there."""
    if None in values and all(v is None or isinstance(v, int) for v in values):
        import pandas

        return pandas.array(values, dtype="Int64")
    if not any(isinstance(value, str) for value in values):
        return values
    return [value if value is None else str(value) for value in values]


def campaign(
    points: Iterable[CampaignPoint],
    run: Evaluate = evaluate,
    *,
    executor: str = "local",
    workers: int | None = None,
    address: str | None = None,
    journal: str | Path | None = None,
    retry: bool = False,
    progress: Report | None = None,
) -> "pandas.DataFrame":
    """Evaluate points in several processes; a table with a row a point, in their order.

    ``run`` takes a point and returns numbers and texts by name; it must be a function of a module,
    for it goes to workers. The default simulates a :class:`lockstep.SweepPoint`. ``executor`` is
    ``local``, ``dask`` or ``ray``, ``workers`` the number of processes (default: cores),
    ``address`` that of a running cluster. ``journal`` is a file that keeps what came of each point:
    with it, points whose digest it has are not evaluated again, ``retry``: but for those that
    failed. A point that fails, or whose worker dies, is tried once more; then its row has the
    ``error``. ``progress`` is called with a :class:`CampaignState` after each point. The same
    points give the same table, whatever the executor. Raises :class:`LockstepError`.
    """
    make = _executor_maker(executor, workers, address)
    with Campaign(points, run, journal) as work:
        work.run(make, retry, progress)
        return work.table()


def _executor_maker(
    name: str, workers: int | None, address: str | None
) -> Callable[[Evaluate], PointExecutor]:
    return lambda run: executor(name, run, workers, address)

"""Sampling in one pass: which launches are simulated is decided as they come.

Launches of one kernel, shape and place in a loop are a stratum, found as they come; where launches
come in no order, of one kernel and shape. The launches of a stratum are cut into cells, and one
launch of each, drawn at random, is simulated; two cells as long as each other are a stratum of the
estimate, with two draws. The longer a program runs, the longer the cells become: so many launches
are to be drawn of each stratum that the interval of what ran so far is as narrow as asked (Neyman's
allocation), whatever is still to come.
"""

import math
from collections import Counter
from collections.abc import Hashable

import numpy as np

from lockstep.device import Treatment
from lockstep.errors import LockstepError
from lockstep.sampling.estimate import CONFIDENCE, UNSEEN
from lockstep.sampling.extras import check_scipy, student
from lockstep.sampling.launched import SampledLaunch
from lockstep.sampling.plan import Plan
from lockstep.sampling.profile import LightRows
from lockstep.sampling.running.chooser import LaunchLog, Warmth
from lockstep.sampling.running.outcome import SampledRun
from lockstep.sampling.table import LaunchTable

MARGIN = 1.05  # allocation by what was drawn makes intervals a little too short
DEPTH = 2  # launches before that tell places in a loop apart
CAUTION = 1.0  # standard errors that are added to deviations
OFTEN = 4  # launches of a shape before it is a kind of its own
PLACES = 8  # of a shape in loops that are told apart at once; others as often as ``OFTEN``
STEP = 0.25  # in log2, between sizes of grids that are put together before
FEWEST = 4  # launches drawn of a stratum before its cells become longer


class _Stratum:
    """Launches of one kind: the pairs of cells that they are cut into, and their times.

    ``count`` and ``total`` are of the times that are known, ``squares`` of what pairs differ by.
    """

    def __init__(self) -> None:
        self.launches = 0
        self.labels: list[int] = []  # of its pairs
        self.cell = 0  # launches of each cell of the pair that is being filled
        self.place = 0  # of the next launch in this pair
        self.draws: tuple[int, ...] = ()
        self.drawn: list[int] = []  # numbers of launches, known and not
        self.count, self.total, self.squares, self.last = 0, 0.0, 0.0, 0.0

    @property
    def is_awaited(self) -> bool:
        """Whether its next launch is drawn."""
        return self.place in self.draws

    @property
    def mean(self) -> float:
        """Mean time."""
        return self.total / self.count

    @property
    def deviation(self) -> float:
        """Standard deviation between neighbours, as if one launch more were off by ``UNSEEN``.

        It is that of the sample and a standard error: few launches say too little too often.
        """
        pairs = self.count // 2
        found = math.sqrt((self.squares / 2 + (UNSEEN * self.mean) ** 2) / (pairs + 1))
        return found * (1 + CAUTION / math.sqrt(2 * (pairs + 1)))


class Online:
    """Simulates as few launches as give a half width of ``error``, or one in ``every`` of a kernel.

    ``error`` is relative to the total; just one of the two is given. ``warm``: which of the others
    leave in the caches what they would have left, see :class:`.Warmth`.
    """

    def __init__(
        self,
        error: float | None = None,
        *,
        every: int | None = None,
        confidence: float = CONFIDENCE,
        seed: int = 0,
        warm: Warmth = Warmth.ALL,
    ):
        check_scipy()
        if (error is None) == (every is None):
            raise LockstepError("sampling takes an error, or how many launches one stands for")
        if error is not None and not 0 < error < 1:
            raise LockstepError(f"error = {error}: expected a share above 0 and below 1")
        if every is not None and every < 1:
            raise LockstepError(f"every = {every}: expected at least 1")
        if not 0.5 <= confidence < 1:
            raise LockstepError(f"confidence = {confidence}: expected a share of 0.5 to 1")
        self._error, self._every, self._confidence = error, every, confidence
        self._random = np.random.default_rng(seed)
        self._others = Treatment.WARM if warm is Warmth.ALL else Treatment.EXECUTE
        self._log, self._light = LaunchLog(), LightRows()
        self._before: tuple[Hashable, ...] = ()
        self._strata: dict[Hashable, _Stratum] = {}
        self._shapes: Counter[Hashable] = Counter()
        self._seen: Counter[Hashable] = Counter()  # launches of each place
        self._places: Counter[Hashable] = Counter()  # of each shape
        self._told: set[Hashable] = set()  # places that are strata of their own
        self._codes: set[str] = set()
        self._labels: list[int] = []  # of the stratum of the estimate of each launch
        self._next_label = 0

    def expect(self, table: LaunchTable) -> None:
        """It takes any, and decides as they come."""

    def __call__(self, launch: SampledLaunch) -> Treatment:
        """The first launch of each kernel is simulated; of the others the one drawn of a cell."""
        number = self._log.add(launch)
        self._light.add(launch)
        key = self._key(launch)
        if launch.code not in self._codes:
            self._codes.add(launch.code)
            self._labels.append(self._fresh())
            if self._every is not None:  # what follows may end before anything of it is drawn
                self._strata.setdefault(key, _Stratum()).labels.append(self._labels[-1])
            return self._log.simulate(number, launch)
        stratum = self._strata.setdefault(key, _Stratum())
        if not stratum.cell:
            self._begin_pair(stratum, launch)
        self._labels.append(stratum.labels[-1])
        stratum.launches += 1
        treatment = self._others
        if stratum.is_awaited:
            stratum.drawn.append(number)
            treatment = self._log.simulate(number, launch)
        stratum.place += 1
        if stratum.place == 2 * stratum.cell:
            self._begin_pair(stratum, launch)
        return treatment

    def outcome(self) -> SampledRun:
        """The interval is as wide as it came out, with ``error`` too."""
        if not self._labels:
            raise LockstepError("the program launched nothing: there is nothing to estimate")
        return self._log.outcome(self.plan(), self._confidence)

    def plan(self) -> Plan:
        """What was simulated so far, as a plan that could be followed."""
        labels = np.array(self._labels)
        family = np.zeros(self._next_label + 1, np.int32)
        for number, stratum in enumerate(self._strata.values()):
            self._close(stratum, labels)
            family[stratum.labels] = number
        for first in set(range(len(family))).difference(*(s.labels for s in self._strata.values())):
            family[first] = len(self._strata) + first
        chosen = np.array(sorted(self._log.simulated), np.int64)
        parameters = {"error": self._error} if self._every is None else {"every": self._every}
        return Plan.of(
            self._light.table(),
            "online",
            labels,
            chosen,
            drawn=True,
            family=family[labels],
            parameters=parameters,
        )

    def _key(self, launch: SampledLaunch) -> Hashable:
        if self._every is not None:
            return launch.code
        shape = launch.geometry
        exact = (launch.code, shape.grid, shape.block, shape.dynamic_shared)
        self._shapes[exact] += 1
        near = tuple(round(math.log2(n) / STEP) for n in shape.grid)
        own = exact if self._shapes[exact] > OFTEN else (launch.code, near, shape.block)
        place = (own, *self._before)
        self._before = place[:DEPTH]
        self._seen[place] += 1
        self._places[own] += self._seen[place] == 1
        # Where sizes come in no order, hardly a place comes twice: they tell nothing apart.
        if self._places[own] <= PLACES or self._seen[place] > OFTEN:
            self._told.add(place)
        return place if place in self._told else own

    def _fresh(self) -> int:
        self._next_label += 1
        return self._next_label

    def _begin_pair(self, stratum: _Stratum, launch: SampledLaunch) -> None:
        """Two more cells of a stratum; as long as what was learnt allows."""
        if len(stratum.drawn) >= FEWEST and self._every is None:
            launch.device.synchronize()
        stratum.cell = self._every or self._cell(stratum)
        stratum.place = 0
        first, second = self._random.integers(stratum.cell, size=2).tolist()
        stratum.draws = (first, stratum.cell + second)
        stratum.labels.append(self._fresh())

    def _cell(self, stratum: _Stratum) -> int:
        """Launches of which one is drawn next."""
        if len(stratum.drawn) < FEWEST:
            return 1
        for each in self._strata.values():
            self._learn(each)
        known = [s for s in self._strata.values() if s.count]
        wanted = self._wanted(known)[known.index(stratum)]
        if wanted >= stratum.launches:
            return 1
        # Drawn at this rate, launches of all times together leave twice as much: half as many do.
        return max(1, int(stratum.launches / max(wanted / 2, FEWEST)))

    def _wanted(self, strata: list[_Stratum]) -> np.ndarray:
        """How many launches of each stratum should have been drawn of those that there were.

        One that all are to be drawn of has no error, and leaves the others to share what may be.
        """
        sizes = np.array([s.launches for s in strata], np.float64)
        mean = np.array([s.mean for s in strata])
        deviation = np.array([s.deviation for s in strata])
        freedom = max(8, sum(s.count for s in strata) - len(strata))
        quantile = student((1 + self._confidence) / 2, freedom)
        assert self._error is not None
        target = (self._error / MARGIN * (sizes @ mean) / quantile) ** 2
        wanted, some = sizes.copy(), np.ones(len(strata), np.bool_)
        while some.any():
            work = sizes[some] @ (deviation * np.sqrt(mean))[some]
            share = work / (target + sizes[some] @ deviation[some] ** 2)
            wanted[some] = (sizes * deviation / np.sqrt(mean))[some] * share
            whole = some & (wanted >= sizes)
            if not whole.any():
                break
            some &= ~whole
        return np.minimum(wanted, sizes)

    def _learn(self, stratum: _Stratum) -> None:
        """Take in times that have become known."""
        for number in stratum.drawn[stratum.count :]:
            cycles = self._log.cycles(number)
            if math.isnan(cycles):
                return
            stratum.count += 1
            stratum.total += cycles
            if stratum.count % 2 == 0:
                stratum.squares += (cycles - stratum.last) ** 2
            stratum.last = cycles

    def _close(self, stratum: _Stratum, labels: np.ndarray) -> None:
        """Put a last pair with fewer than two draws to the one before it."""
        drawn = sum(place < stratum.place for place in stratum.draws)
        if drawn < 2 and stratum.place > drawn and len(stratum.labels) > 1:
            labels[labels == stratum.labels[-1]] = stratum.labels[-2]

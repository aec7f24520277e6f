"""CTA windows: parts of a long launch are simulated, CTAs between them are left out.

SMARTS (Wunderlich et al., ISCA 2003) for a launch. All CTAs come in order. The first wave runs,
then short *units* are measured; after each of them whole waves of CTAs are left out (their accesses
pass through the L2), and some CTAs run unmeasured until caches and queues have settled again. What
is on the SMs runs on all the while, so the last CTAs drain as they do in the whole launch: ramp and
tail are measured, not estimated. Estimated are the gaps alone: the instructions that were left out,
which are known, at the mean of the cycles an instruction that the units on both sides took.

Only whole waves are left out, so that CTAs that end together, wave after wave, stay in step.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from lockstep.errors import LockstepError
from lockstep.sampling.inside.evidence import Mark, Unit
from lockstep.sampling.inside.projection import Projection, project_windows
from lockstep.sampling.inside.stability import BIN, Company

if TYPE_CHECKING:  # importing the engine imports the compiler
    from lockstep.engine.record import KernelRun
    from lockstep.engine.stop import KernelCounters, Skip
    from lockstep.workload import Kernel

SPEED_UP = 4.0
RAMP = (1.0, 3.0)  # waves that have ended before the first unit: least, and with room
UNIT = (1.0, 3.0)  # waves that are measured at a time: CTAs that keep step repeat after one
WARM_UP = (0.5, 1.5)  # waves that run unmeasured after CTAs were left out
DRAIN = 0.75  # waves that the end of a launch takes, about: for the plan alone


class Lengths(NamedTuple):
    """In waves."""

    ramp: float
    unit: float
    warm_up: float


@dataclass
class _Launch:
    """Where a launch is."""

    launched: int
    gaps: int = 0  # that are yet to come
    target: int = 0  # begun CTAs at which the present step ends
    begin: Mark | None = None  # of the unit that is measured
    ramp: bool = True  # it has just begun
    over: bool = False  # the rest runs to its end, unmeasured


class Windows:
    """A rule for all kernels of a run: ``simulate(stop=rule, stop_interval=rule.bin)``.

    At most one in ``speed_up`` cycles is simulated, where the grid is long enough; of a short one,
    of about ten waves, as few as give a unit before and behind one gap. A grid of which nothing
    could be left out runs whole, and so do kernels with clusters and those beside others.
    ``ramp``, ``unit`` and ``warm_up`` are in waves, least and most: how much is what the speed-up
    leaves room for. ``units`` has what was measured, by kernel id.
    """

    ends = False

    def __init__(
        self,
        speed_up: float = SPEED_UP,
        *,
        ramp: tuple[float, float] = RAMP,
        unit: tuple[float, float] = UNIT,
        warm_up: tuple[float, float] = WARM_UP,
        bin: int = BIN,
    ):
        spans = all(0 <= least <= most for least, most in (ramp, unit, warm_up))
        if not (speed_up > 1 and spans and ramp[0] > 0 and unit[0] > 0 and bin >= 1):
            raise LockstepError(
                f"CTA windows: speed_up {speed_up}, ramp {ramp}, unit {unit}, warm_up {warm_up}, "
                f"bin {bin}: expected above 1, three times least and most, and at least 1"
            )
        self.speed_up, self.ramp, self.unit, self.warm_up = speed_up, ramp, unit, warm_up
        self.bin = bin
        self.units: dict[int, list[Unit]] = {}
        self._states: dict[int, _Launch] = {}
        self._company = Company()

    def __call__(self, kernel: "Kernel", cycle: int, counters: "KernelCounters") -> "bool | Skip":
        """Leave CTAs out where a unit ends."""
        self._company.ask(kernel.id, cycle)
        state = self._states.get(kernel.id)
        if state is None or state.launched != counters.launched:
            state = self._states[kernel.id] = _Launch(counters.launched)
            self.units[kernel.id] = []
        if not self._company.alone or kernel.cluster_ctas > 1:
            state.over = True
        if state.over:
            return False
        if state.ramp:
            ramp, _, _ = self.lengths(counters.ctas / counters.wave)
            if counters.ctas_done < ramp * counters.wave:
                return False
            state.gaps = self.gaps(counters)
            state.ramp, state.over = False, not state.gaps
        return False if state.over else self._go_on(kernel.id, state, Mark(cycle, counters))

    def projection(self, run: "KernelRun") -> Projection:
        """What all of a launch would have taken."""
        return project_windows(run, self.units.get(run.id, []))

    def _go_on(self, kernel: int, state: _Launch, now: Mark) -> "bool | Skip":
        from lockstep.engine.stop import Skip

        counters = now.counters
        wave, left = counters.wave, counters.ctas - counters.begun - counters.skipped
        _, unit, warm_up = self.lengths(counters.ctas / wave)
        if counters.begun < state.target and left:
            return False
        if state.begin is None:
            state.begin, state.over = now, not left
            state.target = counters.begun + max(1, round(unit * wave))
            return False
        # The last unit may end early, where the last CTA begins.
        if 2 * (counters.begun - state.begin.counters.begun) >= unit * wave:
            self.units[kernel].append(Unit(state.begin, now))
        state.begin = None
        spare = int(left / wave - state.gaps * (unit + warm_up)) if state.gaps else 0
        waves = spare // state.gaps if state.gaps else 0
        if waves < 1:
            state.over = True
            return False
        state.gaps -= 1
        state.target = counters.begun + round(warm_up * wave)
        return Skip(waves * wave)

    def lengths(self, waves: float) -> "Lengths":
        """Of a grid of so many waves: with a single gap all parts together fill its share."""
        spans = self.ramp, self.unit, self.warm_up
        least, most = (ramp + 2 * unit + warm_up for ramp, unit, warm_up in zip(*spans))
        room = waves / self.speed_up - DRAIN
        part = min(max((room - least) / (most - least), 0.0), 1.0) if most > least else 0.0
        return Lengths(*((1 - part) * low + part * high for low, high in spans))

    def gaps(self, counters: "KernelCounters") -> int:
        """Into how many gaps a launch is to be divided, after the ramp."""
        waves, begun = counters.ctas / counters.wave, counters.begun / counters.wave
        ramp, unit, warm_up = self.lengths(waves)
        room = waves / self.speed_up - DRAIN - ramp - unit
        step, left = unit + warm_up, waves - begun - unit
        return next((n for n in range(max(int(room / step), 1), 0, -1) if left - n * step >= n), 0)

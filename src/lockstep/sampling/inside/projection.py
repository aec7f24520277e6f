"""From a part of a launch to all of it: cycles and counters that are estimated, apart.

Nothing here is measured by the names of :class:`~lockstep.metrics.result.Result`: a
:class:`Projection` holds what ran and what is estimated side by side.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Self

import numpy as np
from msgspec.structs import replace

from lockstep import notebook
from lockstep.errors import WorkloadError
from lockstep.gpus.spec import GPU
from lockstep.metrics import registry
from lockstep.metrics.facts import Facts, ratio, sums
from lockstep.sampling.estimate import CONFIDENCE
from lockstep.sampling.inside.deviation import Deviation, Gap, deviation
from lockstep.sampling.inside.evidence import Lasting, Mark, Stable, Unit

if TYPE_CHECKING:  # importing the engine imports the compiler
    import pandas

    from lockstep.engine.record import KernelRun, LeftOut
    from lockstep.workload import Kernel

PROJECTS = ("instructions", "ctas")
"""What the rest of a launch is counted in: see :func:`project`."""

PLACES = ("ctas", "warps")
"""How long a CTA keeps its place: as the last ones did, or, as published, as its warps take."""

SAME_TRAFFIC = 0.05  # relative difference of two units that tells nothing; guess

Totals = dict[str, float | list[float]]


@dataclass(frozen=True, eq=False)
class Projection:
    """What a launch that was ended early would have taken.

    ``measured`` and ``estimated`` have the same names: ``cycles`` (from the launch on),
    ``running`` (of these, with CTAs), and every counter of the model, summed over the GPU; lists
    where the model has one counter an operation class or stall reason.
    """

    run: "KernelRun"
    method: str  # "instructions", "ctas", "windows", "warps", "blocks"; "whole": all of it ran
    measured: Totals
    estimated: Totals
    deviation: Deviation | None = None  # of the cycles; None: nobody knows

    @classmethod
    def whole(cls, run: "KernelRun") -> Self:
        """Of a launch that is complete: what was measured."""
        measured = _measured(run)
        return cls(run, "whole", measured, dict(measured))

    def _repr_html_(self) -> str:
        """What notebooks show."""
        measured = self.measured["cycles"]
        values = {"method": self.method, "cycles, estimated": self.cycles, "measured": measured}
        return notebook.facts(f"Projection of {self.run.title}", values)

    @property
    def cycles(self) -> float:
        """Core cycles of the whole launch, estimated."""
        return self._number("cycles")

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """Of the cycles; NaN where nothing says how far off they are."""
        if self.method == "whole":
            return self.cycles, self.cycles
        if self.deviation is None:
            return math.nan, math.nan
        half = self.deviation.half_width(confidence)
        return self.cycles - half, self.cycles + half

    @property
    def share(self) -> float:
        """Cycles that were simulated, of those estimated."""
        return ratio(self.run.cycles, self.cycles)

    def rate(self, parts: str | list[str], wholes: str | list[str]) -> float:
        """The sum of some estimated counters over that of others; NaN where there is no whole.

        Rates are never scaled themselves: ``rate("l2_read_hits", "l2_read_sectors")``.
        """
        names = ([name] if isinstance(name, str) else name for name in (parts, wholes))
        part, whole = (sum(self._number(name) for name in group) for group in names)
        return ratio(part, whole)

    def metrics(self, gpu: GPU) -> "pandas.DataFrame":
        """Every metric of the registry: a row each, columns ``measured`` and ``estimated``.

        ``measured`` is of the part that ran; ``estimated`` comes from the estimated counters.
        """
        import pandas

        table = registry.columns(gpu)
        both = {
            "measured": registry.evaluate(table, self._facts(self.measured, gpu)),
            "estimated": registry.evaluate(table, self.facts(gpu)),
        }
        return pandas.DataFrame(both)

    def facts(self, gpu: GPU) -> Facts:
        """What metrics of the whole launch follow from; estimated."""
        return self._facts(self.estimated, gpu)

    def row(self) -> np.ndarray:
        """Estimated cycles, those with CTAs, and the words of the counters of SMs and partitions.

        float64, in the order of :class:`~lockstep.sampling.counters.Counters`.
        """
        names = "cycles", "running", *(self.run.sm.dtype.names or ())
        values = [self.estimated[n] for n in (*names, *(self.run.partition.dtype.names or ()))]
        return np.concatenate([np.atleast_1d(np.asarray(v, np.float64)) for v in values])

    def _number(self, name: str) -> float:
        value = self.estimated.get(name)
        if value is None or isinstance(value, list):
            raise WorkloadError(f"no counter {name!r} of one number is projected")
        return value

    def _facts(self, totals: Totals, gpu: GPU) -> Facts:
        sm, partition = self.run.sm.dtype.names, self.run.partition.dtype.names
        assert sm is not None and partition is not None, "they are records"
        cycles, running = (round(np.sum(totals[name])) for name in ("cycles", "running"))
        kernel = replace(self.run, end=self.run.launched + cycles, running=running)
        memory = SimpleNamespace(**{name: totals[name] for name in partition})
        ours = SimpleNamespace(**{name: totals[name] for name in sm})
        return Facts(gpu, ours, memory, cycles, running, kernel)


def project(
    run: "KernelRun",
    *,
    stable: Stable | None = None,
    instructions: int | None = None,
    by: str = "instructions",
) -> Projection:
    """Estimate cycles and counters of a launch of which a part ran.

    ``by="instructions"``: the warp instructions that are left of ``instructions``, all of the
    launch's, go on as in the time that was ``stable``: at its IPC, with its counters an
    instruction. ``by="ctas"``, as PKA has it: everything since the first dispatch grows as
    all CTAs to those that have ended; those on the SMs count as if they had not begun. A launch
    that is complete is what was measured. Raises :class:`WorkloadError` where that is not known.
    """
    check_way(by)
    if run.complete:
        return Projection.whole(run)
    measured = _measured(run)
    if run.skipped:
        raise WorkloadError(f"{_named(run)} was not ended early, CTAs were left out of it")
    if by == "ctas":
        return Projection(run, by, measured, _by_ctas(run, measured))
    if stable is None or instructions is None:
        raise WorkloadError(
            f"{_named(run)} is projected by instructions: give all that it has, "
            "and the time in which its IPC was stable"
        )
    return Projection(run, by, measured, _by_instructions(run, measured, stable, instructions))


def check_way(by: str) -> None:
    """Raise :class:`WorkloadError` if that is none of :data:`PROJECTS`."""
    if by not in PROJECTS:
        raise WorkloadError(f"projection by {by!r}; expected one of: {', '.join(PROJECTS)}")


def check_places(places: str) -> None:
    """Raise :class:`WorkloadError` if that is none of :data:`PLACES`."""
    if places not in PLACES:
        raise WorkloadError(f"places of {places!r}; expected one of: {', '.join(PLACES)}")


def project_windows(
    run: "KernelRun", units: Sequence[Unit], like_earlier: bool = False
) -> Projection:
    """Estimate cycles and counters of a launch of which CTAs were left out, by :class:`Windows`.

    What was left out between two units takes, an instruction, what both took, each with its share:
    see :func:`_share_of_later`; or, ``like_earlier``, what the one before it took: where
    :class:`Epochs` found it alike; then it has no interval. Raises :class:`WorkloadError` where
    CTAs were left out and nothing was measured.
    """
    measured = _measured(run)
    if not run.skipped:
        return Projection(run, "whole" if run.complete else "windows", measured, dict(measured))
    if not units:
        raise WorkloadError(f"{_named(run)}: {run.skipped} CTAs left out, and no unit measured")
    begins = [unit.end.counters.skipped for unit in units] + [run.skipped]
    rates = [_gains(unit.begin, unit.end) for unit in units]
    estimated, missed, passed = dict(measured), 0, 0
    weights, gaps = [0.0] * len(units), []
    for k, earlier in enumerate(rates):
        gap: list[LeftOut] = []
        while passed < begins[k + 1]:
            gap.append(run.left_out[len(gap) + missed])
            passed += gap[-1].ctas
        missed += len(gap)
        behind = min(k + 1, len(rates) - 1)
        later = rates[behind]
        instructions = sum(each.warp_instructions for each in gap)
        share = 0.0 if like_earlier else _share_of_later(gap, earlier, later)
        weights[k] += instructions * (1 - share)
        weights[behind] += instructions * share
        if gap:
            ctas = sum(each.ctas for each in gap)
            gaps.append(Gap(instructions, ctas / units[k].end.counters.wave))
        for side, part in ((earlier, 1 - share), (later, share)):
            factor = instructions * part / _single(side["warp_instructions"])
            for name, value in side.items():
                estimated[name] = _add(estimated[name], _linear(value, factor))
    estimated["ctas"] = run.ctas - run.first_cta
    left_out = sum(each.warp_instructions for each in run.left_out)
    estimated["warp_instructions"] = run.warp_instructions + left_out
    off = None if like_earlier else _deviation(rates, weights, gaps)
    return Projection(run, "windows", measured, estimated, off)


def _deviation(rates: list[Totals], weights: list[float], gaps: list[Gap]) -> Deviation:
    """Of what was left out, from what each unit gained and how many instructions it stands for."""
    cycles = [_single(each["cycles"]) / _single(each["warp_instructions"]) for each in rates]
    told = [_tells(_traffic(near), _traffic(far)) for near, far in pairwise(rates)]
    return deviation(cycles, told, weights, gaps)


def project_durations(
    run: "KernelRun", lasting: Lasting | None, places: str = PLACES[0]
) -> Projection:
    """Estimate a launch that :class:`Durations` ended: its CTAs follow each other, place by place.

    Counters grow as warp instructions, where the launch's are known, else as CTAs, of which those
    on the SMs count half. A launch that is complete is what was
    measured. Raises :class:`WorkloadError` where a launch was ended and nothing is known of it.
    """
    check_places(places)
    if run.complete:
        return Projection.whole(run)
    measured = _measured(run)
    if lasting is None:
        raise WorkloadError(f"{_named(run)} was ended, and not by how long its CTAs last")
    counters = lasting.at.counters
    if lasting.streams is not None and run.warp_instructions:
        factor = lasting.streams.instructions / run.warp_instructions
    else:
        factor = counters.ctas / ((counters.begun + counters.ctas_done) / 2)
    scaled = {name: _linear(value, factor) for name, value in measured.items()}
    more = lasting.last_end(places) - run.end
    times = {"cycles": run.cycles + more, "running": run.running + more}
    return Projection(run, lasting.level, measured, scaled | times | {"ctas": counters.ctas})


def cut(run: "KernelRun", mark: Mark, reason: str) -> "KernelRun":
    """What would have been recorded of a launch that ran alone, had it been ended at a mark."""
    counters = mark.counters
    sm, partition = (np.array([each]) for each in (counters.sm, counters.partition))
    return replace(
        run,
        end=mark.cycle,
        running=mark.cycle - run.start,
        warp_instructions=int(counters.sm["warp_instructions"]),
        thread_instructions=int(counters.sm["thread_instructions"]),
        sm=sm,
        partition=partition,
        complete=False,
        ctas_done=counters.ctas_done,
        stopped=reason,
    )


def _share_of_later(gap: "Sequence[LeftOut]", earlier: Totals, later: Totals) -> float:
    """How much of a gap is like the unit behind it; the rest is like the one before it.

    Where what moves between L2 and memory, an instruction, tells the two apart, each piece of the
    gap lies between them as its own does: so an L2 that fills up in the gap does so at its place.
    Where it does not, all of the gap is like what follows: a launch begins cold, and what changes
    without the memory's doing changes in its first waves.
    """
    near, far = _traffic(earlier), _traffic(later)
    instructions = sum(each.warp_instructions for each in gap)
    if not instructions or not _tells(near, far):
        return 1.0
    share = 0.0
    for each in gap:
        if each.warp_instructions:
            place = (each.sectors / each.warp_instructions - near) / (far - near)
            share += each.warp_instructions * min(max(place, 0.0), 1.0)
    return share / instructions


def _tells(near: float, far: float) -> bool:
    """Whether two units differ in their traffic."""
    return abs(far - near) > SAME_TRAFFIC * max(near, far)


def _traffic(gained: Totals) -> float:
    """Sectors an instruction between the L2 and the memory."""
    moved = _single(gained["l2_fills"]) + _single(gained["l2_writebacks"])
    return moved / _single(gained["warp_instructions"])


def trace_instructions(kernel: "Kernel") -> int:
    """Warp instructions of a launch; all of its CTAs are read."""
    return int(cta_instructions(kernel).sum())


def cta_instructions(kernel: "Kernel") -> np.ndarray:
    """Warp instructions of each CTA of a launch, int64, in order; all of them are read."""
    return np.array([cta.warps["warp_instructions"].sum() for cta in kernel.ctas()], np.int64)


def _named(run: "KernelRun") -> str:
    return f"kernel {run.id} ({run.title})"


def _measured(run: "KernelRun") -> Totals:
    counters = vars(sums(run.sm)) | vars(sums(run.partition))
    return {"cycles": run.cycles, "running": run.running} | counters


def _by_ctas(run: "KernelRun", measured: Totals) -> Totals:
    ctas = run.ctas - run.first_cta
    if not run.ctas_done:
        raise WorkloadError(f"{_named(run)}: none of its {ctas} CTAs has ended: nothing to scale")
    factor = ctas / run.ctas_done
    scaled = {name: _linear(value, factor) for name, value in measured.items()}
    more = (run.end - run.start) * (factor - 1)
    return scaled | {"cycles": run.cycles + more, "running": run.running + more, "ctas": ctas}


def _by_instructions(
    run: "KernelRun", measured: Totals, stable: Stable, instructions: int
) -> Totals:
    left = instructions - run.warp_instructions
    if left < 0:
        raise WorkloadError(
            f"{_named(run)} ran {run.warp_instructions} warp instructions, more than the "
            f"{instructions} that it has: the profile is of another launch"
        )
    gained = _gains(stable.begin, stable.end)
    done = _single(gained["warp_instructions"])
    if not done:
        raise WorkloadError(f"{_named(run)} issued nothing in {stable.end.cycle} cycles")
    estimated = {n: _add(measured[n], _linear(value, left / done)) for n, value in gained.items()}
    return estimated | {"ctas": run.ctas - run.first_cta, "warp_instructions": instructions}


def _gains(begin: Mark, end: Mark) -> Totals:
    """What cycles and counters gained between two marks."""
    cycles = end.cycle - begin.cycle
    gained: Totals = {"cycles": cycles, "running": cycles}
    for part in ("sm", "partition"):
        before, after = (vars(sums(getattr(mark.counters, part))) for mark in (begin, end))
        gained |= {name: _add(value, _linear(before[name], -1)) for name, value in after.items()}
    return gained


def _single(value: float | list[float]) -> float:
    assert not isinstance(value, list), "it is one number"
    return value


def _linear(value: float | list[float], factor: float) -> float | list[float]:
    return [v * factor for v in value] if isinstance(value, list) else value * factor


def _add(value: float | list[float], more: float | list[float]) -> float | list[float]:
    total = np.add(value, more)
    return total.tolist() if total.ndim else float(total)

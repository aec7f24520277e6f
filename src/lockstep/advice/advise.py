"""All rules on a result: what was found, most time first, as a table and as a document."""

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from lockstep.advice.lifts import NAMES, Lift, lift
from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis
from lockstep.advice.rules import RULES
from lockstep.advice.what_if import WhatIf, what_if
from lockstep.metrics.result import Result

if TYPE_CHECKING:
    import pandas

    from lockstep.engine.record import KernelRun
    from lockstep.workload import Workload

LEAST_OF_RUN = 0.01  # of the cycles of the run: what a problem takes at least, to be told


class AdviceItem(msgspec.Struct, frozen=True):
    """What one rule found of one kernel, or of the run.

    ``kernel``: its name in C++, "" = the run. ``cycles``: what the problem takes at most, of those
    in which CTAs ran; ``gain``: how many times as fast its kernel, or the run, would be at most,
    told from counters; ``simulated``: the same as it was simulated without the limit.
    """

    rule: AdviceRule
    kernel: str
    found: Diagnosis
    cycles: int
    gain: float
    simulated: float | None = None
    simulated_cycles: int | None = None

    @property
    def lift(self) -> str:
        """The limit that a what-if lifts; "" = there is none."""
        return self.found.lift or self.rule.lift

    def row(self) -> dict[str, Any]:
        """Plain values, by the columns of :attr:`Advice.table`."""
        found, spot = self.found, self.found.spot
        return {
            "kernel": self.kernel,
            "rule": self.rule.name,
            "title": self.rule.title,
            "at_limit": self.rule.limit,
            "share": found.share,
            "cycles": self.cycles,
            "what": found.what,
            "todo": found.todo,
            "file": spot.file if spot else "",
            "line": spot.line if spot else 0,
            "pc": spot.pc if spot else None,
            "text": spot.text if spot else "",
            "gain": self.gain,
            "lift": self.lift,
            "simulated_cycles": self.simulated_cycles,
            "simulated": self.simulated,
        }


class Advice(msgspec.Struct, frozen=True):
    """What all rules found, problems first, by the time that they take; and what was simulated."""

    items: tuple[AdviceItem, ...]
    what_if: WhatIf | None = None

    @property
    def problems(self) -> tuple[AdviceItem, ...]:
        """What can be better: all but those that say that a kernel is at a limit."""
        return tuple(item for item in self.items if not item.rule.limit)

    @property
    def table(self) -> "pandas.DataFrame":
        """One row an item; ``gain`` and ``simulated`` are speed-ups, 1 = none."""
        import pandas

        empty = AdviceItem(RULES[0], "", Diagnosis(0, "", "", ()), 0, 1).row()
        return pandas.DataFrame([item.row() for item in self.items], columns=list(empty))

    def document(self) -> dict[str, Any]:
        """The same as plain values, with the evidence, for ``Result.advice``."""
        items = [
            item.row() | {"evidence": [each._asdict() for each in item.found.evidence]}
            for item in self.items
        ]
        tried = self.what_if.document() if self.what_if else []
        return {"items": items, "what_if": tried}


def advise(
    result: Result,
    lifts: str | tuple[str, ...] = (),
    workload: "Workload | None" = None,
    **simulation: Any,
) -> Advice:
    """Why a program is slow: what each rule finds in a result. Keeps it as ``result.advice``.

    Places in the source are known where instructions were counted (``simulate(source=True)``).
    ``lifts``: names of limits, ``"all"``, or ``"found"`` for those that the findings name; the
    result's workload, or ``workload`` as a trace of it, is simulated again without each of them on
    the same GPU, see :func:`.what_if.what_if`. Raises :class:`LockstepError` if there is no such
    limit, or nothing that can be simulated again.
    """
    advice = examined(result)
    if lifts:
        chosen = limits(advice, lifts)
        advice = without(advice, what_if(result, chosen, workload, **simulation))
    result.advice = advice.document()
    return advice


def examined(result: Result) -> Advice:
    """What each rule finds in a result, which is left as it is."""
    groups: dict[str, list[KernelRun]] = {}
    for run in result.run.kernels:
        groups.setdefault(run.name, []).append(run)
    items = []
    for rule in RULES if groups else ():
        if rule.whole_run:
            items += _applied(rule, Observation(result, result.run.kernels), "")
    for runs in groups.values():
        seen = Observation(result, runs)
        for rule in RULES:
            if not rule.whole_run:
                items += _applied(rule, seen, runs[0].title)
    return Advice(tuple(sorted(items, key=lambda item: (item.rule.limit, -item.cycles))))


def limits(advice: Advice, names: str | tuple[str, ...]) -> tuple[Lift, ...]:
    """The limits of some names; ``"found"``: those that the advice names; ``"all"``."""
    if names == "all":
        names = NAMES
    elif names == "found":
        names = tuple(name for name in NAMES if any(name == item.lift for item in advice.items))
    elif isinstance(names, str):
        names = (names,)
    return tuple(lift(name) for name in names)


def without(advice: Advice, tried: WhatIf) -> Advice:
    """The advice with what its limits cost, as it was simulated."""
    items = []
    for item in advice.items:
        found = tried.of(item.lift, item.kernel)
        if found:
            item = replace(item, simulated=found.speedup, simulated_cycles=found.cycles)
        items.append(item)
    return Advice(tuple(items), tried)


def _applied(rule: AdviceRule, seen: Observation, kernel: str) -> list[AdviceItem]:
    found = rule.look(seen)
    if found is None:
        return []
    run = seen.result.run
    whole = run.cycles if rule.whole_run else sum(each.cycles for each in seen.runs)
    cycles = round(found.share * (run.cycles if rule.whole_run else seen.running))
    if cycles < LEAST_OF_RUN * run.cycles:
        return []
    return [AdviceItem(rule, kernel, found, cycles, whole / max(1, whole - cycles))]

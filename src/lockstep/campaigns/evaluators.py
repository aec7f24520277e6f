"""From a point to its values: all launches simulated, or some and the rest estimated."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lockstep import api, kernels
from lockstep.campaigns.point import SweepPoint
from lockstep.errors import LockstepError

if TYPE_CHECKING:  # importing the engine imports the compiler
    from lockstep.metrics.result import Result
    from lockstep.sampling.running import Chooser, SampledRun
    from lockstep.workload import Workload

ESTIMATED, LOW, HIGH = "estimated.", "low.", "high."  # before a metric's name


def evaluate(point: SweepPoint) -> dict[str, float]:
    """Simulate a point.

    Where all launches are simulated, the values are those of ``Result.total``. Where some are, or
    parts of them, and of live points, they are estimates of all launches with their intervals,
    ``estimated.cycles``, ``low.cycles`` and ``high.cycles``, of each metric, and no metric has its
    own name. Raises :class:`LockstepError` if a program's results are wrong, or it ends early.
    """
    if point.kind == "trace":
        return _of_trace(point)
    chooser = _chooser(point)
    running = _program if point.kind == "program" else _builtin
    with running(point, chooser) as result:
        return _values(result, chooser.outcome() if chooser else None)


def _chooser(point: SweepPoint) -> "Chooser | None":
    """What chooses launches of a program where not all are simulated to their ends."""
    if point.timing == "full" and not point.inside:
        return None  # and nothing of sampling is needed, which takes long to import
    from lockstep.sampling.running import Everything

    return _sampler(point) or Everything()


def _sampler(point: SweepPoint) -> "Chooser | None":
    """What chooses launches where not all are simulated."""
    if point.timing == "full":
        return None
    from lockstep.sampling.running.choice import chooser_of

    return chooser_of(point.timing, point.seed)


def _of_trace(point: SweepPoint) -> dict[str, float]:
    workload = api.load(point.workload)
    rule = _rule(point, workload)
    if (chooser := _sampler(point)) is None:
        return _of_all(workload, point, rule)
    from lockstep.sampling.running import SampledTrace

    sampled = SampledTrace(chooser, rule.get("stop"))
    result = api.simulate(workload, point.spec, sample=sampled, **rule)
    return _values(result, None if result.stopped else sampled.outcome())


def _of_all(workload: "Workload", point: SweepPoint, rule: dict[str, Any]) -> dict[str, float]:
    """All launches of a trace are simulated, or all live points."""
    result = api.simulate(workload, point.spec, **rule)
    inside = rule.get("stop")
    if result.stopped or not (inside or workload.points):
        return _values(result, None)
    if workload.points:
        from lockstep.sampling import estimate_points

        return _values(result, estimate_points(result, inside=inside))
    assert inside is not None, "else nothing is estimated"
    from lockstep.sampling.running import estimate_all

    return _values(result, estimate_all(result, inside))


def _rule(point: SweepPoint, workload: "Workload | None" = None) -> dict[str, Any]:
    """What a simulation takes for the rule inside launches, if there is one."""
    if not point.inside:
        return {}
    from lockstep.sampling.inside.choice import simulation_options

    return simulation_options(point.inside, workload)


@contextmanager
def _builtin(point: SweepPoint, chooser: "Chooser | None") -> "Iterator[Result]":
    from lockstep.device import Device

    name = point.workload
    with Device(point.spec, timing=True, choose=chooser, name=name, **_rule(point)) as device:
        checks = kernels.load(name).run(device, point.size, point.seed)
        for check in kernels.brought_back(device, checks):
            check.verify()
        yield device.partial_result()


@contextmanager
def _program(point: SweepPoint, chooser: "Chooser | None") -> "Iterator[Result]":
    from subprocess import DEVNULL

    from lockstep.runtime import Simulator, run_program

    options = {"choose": chooser, "name": point.workload} | _rule(point)
    simulator = Simulator(point.spec, True, **options)
    try:
        end = run_program(simulator, (point.workload, *point.arguments), output=DEVNULL)
        if end.signal or end.code:
            how = f"was killed by {end.signal}" if end.signal else f"ended with status {end.code}"
            raise LockstepError(f"{point.workload} {how}")
        if simulator.stuck:
            raise LockstepError(f"{point.workload}: a kernel could not move, or reached a limit")
        yield simulator.device.partial_result()
    finally:
        simulator.close()


def _values(result: "Result", outcome: "SampledRun | None") -> dict[str, float]:
    if result.stopped:
        raise LockstepError(f"ended early: {result.stopped}")
    if not result.run.kernels:
        raise LockstepError(f"{result.workload.name} launched no kernel")
    if outcome is None:
        return result.total
    cycles = outcome.cycles
    head: dict[str, float] = {
        "launches": len(outcome.plan),
        "simulated_launches": len(outcome.plan.chosen),
        f"{ESTIMATED}cycles": cycles.total,
        f"{LOW}cycles": cycles.low,
        f"{HIGH}cycles": cycles.high,
    }
    for name, estimated, low, high in outcome.metrics().itertuples(name=None):
        head |= {f"{ESTIMATED}{name}": estimated, f"{LOW}{name}": low, f"{HIGH}{name}": high}
    return head

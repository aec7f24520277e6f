"""What a program would gain: it is simulated again, each time without one limit of the GPU.

Nothing is estimated here. All other limits stay, so that a gain is what is left until the next one
holds; gains do not add up.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from lockstep import api
from lockstep.advice.lifts import Lift
from lockstep.errors import LockstepError
from lockstep.gpus.spec import GPU
from lockstep.metrics.result import Result

if TYPE_CHECKING:
    import pandas

    from lockstep.workload import Workload


class Prediction(NamedTuple):
    """Cycles of the launches of a kernel without a limit, and how many times as fast that is."""

    lift: str
    kernel: str  # its name in C++; "" = the run
    cycles: int
    speedup: float


class WhatIf(NamedTuple):
    """What was simulated: for each limit the run, and each kernel."""

    predictions: tuple[Prediction, ...]

    def of(self, lift: str, kernel: str = "") -> Prediction | None:
        """What is known of a limit and a kernel."""
        wanted = (p for p in self.predictions if (p.lift, p.kernel) == (lift, kernel))
        return next(wanted, None)

    @property
    def table(self) -> "pandas.DataFrame":
        """One row a limit and a kernel."""
        import pandas

        return pandas.DataFrame(self.predictions, columns=Prediction._fields)

    def document(self) -> list[dict[str, Any]]:
        """The same as plain values."""
        return [each._asdict() for each in self.predictions]


def what_if(
    result: Result,
    lifts: Iterable[Lift],
    workload: "Workload | None" = None,
    *,
    told: Callable[[str], None] | None = None,
    **simulation: Any,
) -> WhatIf:
    """Simulate a result's workload, or a trace of it, without each of some limits.

    ``told`` is called with the name of each limit; ``simulation``: arguments of
    :func:`lockstep.simulate`, the same as those of the result, but for ``threads`` and ``ranks``,
    on which nothing depends. Raises :class:`LockstepError` if there is nothing to simulate.
    """
    workload = result.workload if workload is None else workload
    if not workload.kernels:
        raise LockstepError(
            "what a device ran cannot be simulated again: record a trace of it (Device.record)"
        )

    def again(gpu: GPU) -> Result:
        return api.simulate(workload, gpu, **simulation)

    before = _cycles(result if workload is result.workload else again(result.gpu))
    predictions = []
    for lift in lifts:
        if told:
            told(lift.name)
        after = _cycles(again(lift.of(result.gpu)))
        for kernel, cycles in before.items():
            now = after.get(kernel, 0)
            speedup = cycles / now if now else 1.0
            predictions.append(Prediction(lift.name, kernel, now, speedup))
    return WhatIf(tuple(predictions))


def _cycles(result: Result) -> dict[str, int]:
    """Cycles of the run, as "", and of all launches of each kernel."""
    found = {"": result.cycles}
    for run in result.run.kernels:
        found[run.title] = found.get(run.title, 0) + run.cycles
    return found

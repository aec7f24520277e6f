"""Bulk copies: what the unit that makes them moves in a cycle."""

from collections.abc import Callable

from lockstep.tuning.inference import Fit, Inference
from lockstep.tuning.measured import Absent, Measured


def _rate(name: str) -> Callable[[Measured], float]:
    """Bytes a cycle: by how much a copy of the largest size takes longer than the one before."""

    def read(m: Measured) -> float:
        one, other = m.series(name, "chunk", in_flight=1)[-2:]
        m.use(one, other)
        if other.value <= one.value:
            raise Absent(f"{name}: a larger copy takes no longer")
        return (other.at - one.at) / (other.value - one.value)

    return read


def _inference(parameter: str, name: str) -> Inference:
    rate = _rate(name)
    fit = Fit(estimate=lambda m: round(rate(m)))
    return Inference(parameter, rate, "bytes more a cycle more", fit)


INFERENCES = (
    _inference("sm.memory.bulk_load_bytes", "lat.copy_bulk"),
    _inference("sm.memory.bulk_store_bytes", "lat.copy_bulk_store"),
)

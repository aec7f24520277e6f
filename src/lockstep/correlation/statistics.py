"""How far numbers are from measured ones: errors, and how well the two go together."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from lockstep import notebook

_ERRORS = ("mape", "median", "p90", "worst", "bias", "nrmse")


def relative_error(ours: float, measured: float) -> float:
    """Of the measured number: 0.1 is 10 % too much. Of a measured 0: 0 if ours is 0, else 1."""
    if measured:
        return (ours - measured) / abs(measured)
    return float(ours != 0)


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of pairs of numbers; all but ``count`` and ``pearson`` are fractions. NaN: undefined.

    ``mape`` (mean absolute percentage error), ``median``, ``p90`` (90th percentile) and ``worst``
    are of the absolute relative errors, ``bias`` is the mean of the signed ones. ``nrmse`` is the
    root of the mean square difference over the mean of what was measured. ``pearson`` is the
    coefficient of correlation r: undefined for less than two pairs, or where one side is constant.
    """

    count: int
    mape: float
    median: float
    p90: float
    worst: float
    bias: float
    nrmse: float
    pearson: float

    @property
    def row(self) -> dict[str, object]:
        """What notebooks show of it; errors in percent."""
        errors = {f"{name}, %": 100 * getattr(self, name) for name in _ERRORS}
        return {"rows": self.count, **errors, "r": self.pearson}

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return notebook.facts("Errors", self.row)

    @classmethod
    def of(cls, ours: Sequence[float], measured: Sequence[float]) -> "Statistics":
        """The statistics of pairs of finite numbers, as many of ours as of measured ones."""
        if len(ours) != len(measured):
            raise ValueError(f"{len(ours)} numbers beside {len(measured)} measured ones")
        if not len(ours):
            return cls(0, *[math.nan] * 7)
        signed = np.array([relative_error(a, b) for a, b in zip(ours, measured)])
        errors = np.abs(signed)
        return cls(
            len(errors),
            mape=float(errors.mean()),
            median=float(np.median(errors)),
            p90=float(np.percentile(errors, 90)),
            worst=float(errors.max()),
            bias=float(signed.mean()),
            nrmse=_nrmse(np.asarray(ours, float), np.asarray(measured, float)),
            pearson=_pearson(np.asarray(ours, float), np.asarray(measured, float)),
        )

    def to_dict(self) -> dict[str, float]:
        """By name, for a JSON file."""
        return asdict(self)

    def __str__(self) -> str:
        """One line, in percent."""
        percents = {
            "mean": self.mape,
            "median": self.median,
            "90th percentile": self.p90,
            "worst": self.worst,
        }
        return ", ".join(f"{name} {100 * value:.2f} %" for name, value in percents.items())


def _scaled(values: np.ndarray) -> np.ndarray:
    """Numbers of at most 1: squares of large ones would be infinite."""
    largest = np.abs(values).max()
    return values / largest if largest else values


def _nrmse(ours: np.ndarray, measured: np.ndarray) -> float:
    scale = max(np.abs(ours).max(), np.abs(measured).max())
    if not scale:
        return 0.0
    ours, measured = ours / scale, measured / scale
    mean = abs(float(measured.mean()))
    return float(np.sqrt(np.mean((ours - measured) ** 2))) / mean if mean else math.nan


def _pearson(ours: np.ndarray, measured: np.ndarray) -> float:
    if len(ours) < 2 or len(set(ours.tolist())) < 2 or len(set(measured.tolist())) < 2:
        return math.nan
    a, b = (v - v.mean() for v in (_scaled(ours), _scaled(measured)))
    length = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / length if length else math.nan

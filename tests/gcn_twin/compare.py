"""What results should be: the same bits, any NaN for a NaN, or within a bound."""

from typing import NamedTuple

import numpy as np


class Near(NamedTuple):
    """Within so many units in the last place of a more exact result."""

    exact: np.ndarray
    units: float


class Within(NamedTuple):
    """Within an absolute bound."""

    exact: np.ndarray
    bound: float


def _right(got, expected):
    if isinstance(expected, Near | Within):
        exact = expected.exact
        with np.errstate(all="ignore"):
            rounded = exact.astype(got.dtype)
            plain = np.isfinite(rounded) & np.isfinite(got)
            error = np.abs(got.astype(exact.dtype) - exact)
            if isinstance(expected, Near):
                bound = expected.units * np.spacing(np.abs(rounded)).astype(exact.dtype)
            else:
                bound = expected.bound
        return np.where(plain, error <= bound, _same(got, rounded))
    return _same(got, np.asarray(expected, got.dtype))


def _same(got, expected):
    if got.dtype.kind != "f":
        return got == expected
    bits = np.dtype(f"uint{8 * got.itemsize}")
    return (got.view(bits) == expected.view(bits)) | (np.isnan(got) & np.isnan(expected))


def differences(found, twins, cases, active=True):
    """Texts of the first wrong result of each operation; results outside EXEC are 0."""
    wrong = []
    for name, (_, operands) in cases.items():
        with np.errstate(all="ignore"):
            expected = twins[name](*operands)
        if not isinstance(expected, tuple) or isinstance(expected, Near | Within):
            expected = (expected,)
        assert len(expected) == len(found[name])
        for number, (got, wanted) in enumerate(zip(found[name], expected)):
            right = np.where(active, _right(got, wanted), got == 0)
            if not right.all():
                k = int(np.argmin(right))
                told = [_text(v[k]) for v in operands]
                values = wanted.exact if isinstance(wanted, Near | Within) else wanted
                shown = _text(np.broadcast_to(values, got.shape)[k])
                wrong.append(
                    f"{name}({', '.join(told)})[{number}] = {_text(got[k])}, not {shown};"
                    f" {np.count_nonzero(~right)} wrong"
                )
    return wrong


def _text(value):
    if isinstance(value, np.floating):
        return f"{value!r}"
    return f"{int(value):#x}"

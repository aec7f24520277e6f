"""Units in profilers' tables: by them nanoseconds, bytes, hertz and counts come out."""

import math
import re

_NANOSECONDS = {"": 1e9, "m": 1e6, "u": 1e3, "µ": 1e3, "μ": 1e3, "n": 1.0}  # both of Unicode's
TIMES = {
    f"{prefix}{word}": factor
    for prefix, factor in _NANOSECONDS.items()
    for word in ("s", "sec", "second")
}
"""The names of units of time, in nanoseconds."""

_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
# Of bytes and hertz a small m is mega, too: nobody has a thousandth of them.
_AMOUNT = re.compile(r"([kmgt]?)(i?)(?:bytes?|(?-i:B)|hz)", re.IGNORECASE)
_COUNT = re.compile(r"([KMGT]?)(?:[a-z_]{3,}|SM)|%|")  # as in Kinst; two letters may be a prefix


def scale(unit: str) -> float | None:
    """What a number in a unit is multiplied by, "" counts; None where the unit is not known.

    Times become nanoseconds, but what is counted a time is counted a second.
    """
    amount, *divisors = unit.split("/")
    factors = [_scale(amount), *(_inverse(divisor) for divisor in divisors)]
    known = [factor for factor in factors if factor is not None]
    return math.prod(known) if len(known) == len(factors) else None


def factor(unit: str, of_time: bool) -> float | None:
    """As :func:`scale`; of a time, no other unit is known either."""
    return TIMES.get(unit) if unit and of_time else scale(unit)


def _inverse(unit: str) -> float | None:
    """Of what is behind a stroke."""
    if unit in TIMES:
        return 1e9 / TIMES[unit]
    factor = _scale(unit) if unit else None
    return factor and 1 / factor


def _scale(unit: str) -> float | None:
    if unit in TIMES:
        return TIMES[unit]
    if found := _AMOUNT.fullmatch(unit):
        return (1024.0 if found[2] else 1e3) ** _POWERS[found[1].lower()]
    found = _COUNT.fullmatch(unit)
    return 1e3 ** _POWERS[(found[1] or "").lower()] if found else None

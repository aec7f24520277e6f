"""What specifications of a GPU are made of: immutable records of numbers within limits."""

import msgspec
from msgspec import Meta


def within(low: float, high: float, unit: str, meaning: str) -> Meta:
    """What is said of a number: its limits, both allowed, its unit and its meaning."""
    return Meta(ge=low, le=high, description=meaning, title=unit)


class Spec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of all specifications: immutable, no unknown fields.

    msgspec does not inherit ``kw_only``, type checkers do not inherit ``frozen``: so every
    specification says both again.
    """

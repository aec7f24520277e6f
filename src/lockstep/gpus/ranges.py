"""What specifications of a GPU are made of: immutable records of numbers within limits."""

from typing import Annotated

import msgspec
from msgspec import Meta


def integer(low: int, high: int, unit: str, meaning: str):
    """The type of a whole number within limits."""
    return Annotated[int, Meta(ge=low, le=high, description=meaning, title=unit)]


def number(low: float, high: float, unit: str, meaning: str):
    """The type of a number within limits."""
    return Annotated[float, Meta(ge=low, le=high, description=meaning, title=unit)]


class Spec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of all specifications: immutable, no unknown fields.

    msgspec does not inherit ``kw_only``, so every specification says it again.
    """

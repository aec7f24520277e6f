"""Execution units: where the GPU has no place for what rows tell of them."""

from collections.abc import Mapping

OPERATIONS, INTERVALS = "operations", "intervals"  # the tables of a unit that rows fill


def misplaced(path: str, parameters: Mapping[str, object]) -> str:
    """Why no GPU of these parameters can have an entry of a unit's tables; empty if it can.

    Rows show how long a class takes and how often it starts, not how many units there are, and
    whether each sub-core has one: that is the base's or the facts' to say.
    """
    unit, table, name = path.rsplit(".", 2)
    if f"{unit}.lanes" not in parameters:
        return f"there is no {unit}; facts may add it, with count and scope"
    owners = _owners(name, parameters)
    if table == INTERVALS:
        return "" if unit in owners else f"there is no {unit}.{OPERATIONS}.{name}"
    others = [owner for owner in owners if owner != unit]
    return f"{name} is an operation of {others[0]}" if others else ""


def _owners(name: str, parameters: Mapping[str, object]) -> list[str]:
    """The units that execute a class, or an opcode."""
    place = f".{OPERATIONS}.{name}"
    return [path.removesuffix(place) for path in parameters if path.endswith(place)]

"""What a table calls impossible has happened: a defect of the protocol, or of the caches."""

from lockstep._jit import Records
from lockstep.errors import LockstepError
from lockstep.model.coherence.library import load
from lockstep.model.coherence.table import ControllerTable


class CoherenceFault(LockstepError):
    """An entry came up that the protocol's table calls impossible; the message names it."""


def look(protocol: str, l1s: Records, slices: Records) -> None:
    """Raise :class:`CoherenceFault` if an L1, or an L2 slice as a home, has noted one."""
    if protocol == "none":
        return
    table = load(protocol)
    for side, name, units in ((table.l1, "L1", l1s), (table.home, "L2 slice", slices)):
        for number in units["fault"].nonzero()[0].tolist():
            state, event, why = _entry(side, int(units[number]["fault"]) - 1)
            raise CoherenceFault(
                f"coherence.protocol = {protocol}: {event} came to {name} {number} for a line in "
                f"state {state}, which the table calls impossible ({why}). Please report this, "
                "with the program"
            )


def _entry(table: ControllerTable, number: int) -> tuple[str, str, str]:
    state = table.states[number // len(table.events)]
    event = list(table.events)[number % len(table.events)]
    return state, event, table.entries[state, event].impossible

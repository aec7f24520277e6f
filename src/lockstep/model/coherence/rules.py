"""A protocol as the caches carry it out: its arrays, and what follows from its tables.

All GPUs have these arrays, so that they are of one kind; without a protocol they are empty.
"""

import numpy as np

from lockstep._jit import Context, Records
from lockstep.errors import SpecError
from lockstep.model.coherence.arrays import CHOICE, ENTRY, FORM, export, triggers
from lockstep.model.coherence.library import load
from lockstep.model.coherence.table import ControllerTable, Protocol
from lockstep.model.coherence.vocabulary import PAYLOADS
from lockstep.model.records import nothing, records, words, zeros

COHERENT = 16
"""The kind of message 0 of a protocol, in the links' records; the others follow."""

KNOWN = np.dtype(
    words(
        "on",  # 1: there is a protocol
        "messages",  # how many; the operations of an L1 follow them as triggers
        "l1_stable",  # states below this number are stable
        "home_stable",
        "refusal",  # the number of NACK
        "evict",  # triggers of a home that are no messages
        "peek",
        "fetched",  # the number of MEM_DATA
        "clean",  # the state of a home with all bytes as in memory
        "changed",  # ... and with bytes that memory has not
    )
)
NOT_COUNTED, AS_READ, AS_WRITE, AS_ATOMIC = 0, 1, 2, 3
"""What a request counts as among the L2's accesses."""


class ProtocolRules(Context):
    """A protocol for compiled code; indices as in ``arrays.py``."""

    known: Records  # KNOWN, one
    l1: Records  # ENTRY, states x events
    l1_choices: Records  # CHOICE, triggers x most of one
    home: Records
    home_choices: Records
    forms: Records  # FORM, messages
    keeps: np.ndarray  # states of an L1: 1 = a line in it has a way, or will need one
    counted: np.ndarray  # messages: AS_READ and the others


@nothing
def absent() -> ProtocolRules:
    """Those of a GPU without a protocol."""
    tables = [records((1, 1), kind) for kind in (ENTRY, CHOICE, ENTRY, CHOICE)]
    return ProtocolRules(records(1, KNOWN), *tables, records(1, FORM), zeros(1), zeros(1))


def build(name: str) -> ProtocolRules:
    """The rules of a protocol by name; of "none", empty ones."""
    if name == "none":
        return absent()
    protocol = load(name)
    _carried_out(protocol)
    arrays = export(protocol)
    known = records(1, KNOWN)
    k, messages, home = known[0], list(protocol.messages), triggers(protocol, "home")
    k.on, k.messages = 1, len(messages)
    k.l1_stable, k.home_stable = len(protocol.l1.stable), len(protocol.home.stable)
    k.refusal, k.fetched = messages.index("NACK"), messages.index("MEM_DATA")
    k.evict, k.peek = home.index("evict"), home.index("peek")
    k.clean = _after_fill(protocol)
    k.changed = list(protocol.home.states).index("M") if "M" in protocol.home.stable else k.clean
    keeps, counted = zeros(len(protocol.l1.states)), zeros(len(messages))
    keeps[:] = [_keeps(protocol.l1, state) for state in protocol.l1.states]
    counted[:] = [_counted(protocol, name) for name in messages]
    return ProtocolRules(
        known,
        *(_copy(table) for side in (arrays.l1, arrays.home) for table in side),
        _copy(arrays.forms),
        keeps,
        counted,
    )


def _copy(table: np.ndarray) -> Records:
    copied = records(table.shape, table.dtype)
    for name in table.dtype.names or ():
        copied[name] = table[name]
    return copied


def _after_fill(protocol: Protocol) -> int:
    """The stable state of a home in which data from memory leaves a line that nobody has."""
    found = {
        entry.next
        for (_, event), entry in protocol.home.entries.items()
        if event == "MEM_DATA" and "fill" in entry.actions
    }
    (state,) = found
    return list(protocol.home.states).index(state)


def _keeps(table: ControllerTable, state: str) -> bool:
    """Whether a line needs a way: it is here, or what will come is put into it."""
    if state in table.stable:
        return state != table.states[0]
    return any(
        {"fill", "perform"} & set(table.entries[state, event].actions) for event in table.events
    )


def _counted(protocol: Protocol, name: str) -> int:
    """What a request counts as: it fetches a line, brings bytes, or is neither."""
    form = protocol.messages[name]
    if form.network != "request":
        return NOT_COUNTED
    if name == "ATOMIC":
        return AS_ATOMIC
    if list(PAYLOADS).index(form.carries) > 0:
        return AS_WRITE
    fetching = {
        event for (_, event), entry in protocol.home.entries.items() if "MEM_READ" in entry.sends
    }
    events = {event for _, event in protocol.home.choices(name)}
    return AS_READ if fetching & events else NOT_COUNTED


def _carried_out(protocol: Protocol) -> None:
    """Raise :class:`SpecError` for a protocol with what the caches in time do not carry out."""
    for (state, event), entry in protocol.l1.entries.items():
        ups = [name for name in entry.sends if protocol.messages[name].network == "request"]
        operation = set(protocol.l1.events[event].on).isdisjoint(protocol.messages)
        if len(entry.sends) > 1 or (ups and not operation and event != "NACK"):
            raise SpecError(
                f"coherence.protocol = {protocol.name}: in the L1's state {state}, {event} sends "
                f"{', '.join(entry.sends)}; the caches send one message for an operation or "
                "NACK, and one response for another message"
            )

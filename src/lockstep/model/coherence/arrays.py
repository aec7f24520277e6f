"""A protocol as arrays of numbers: what compiled code carries out.

States, events, triggers, messages, conditions and actions are numbers, by their places in the
table and in ``vocabulary.py``. When something happens to a line, its event is the
first of ``choices[trigger]`` whose ``conditions``, a word with a bit each, all hold;
``entries[state, event]`` has the next state and a word of actions, a bit each, carried out from bit
0 up. The bit ``sends`` stands
where the messages of the word ``messages`` are sent, from bit 0 up.
"""

from typing import NamedTuple

import numpy as np

from lockstep.model.coherence.table import ControllerTable, Protocol
from lockstep.model.coherence.vocabulary import (
    ACTIONS,
    CONDITIONS,
    INTERNAL,
    NETWORKS,
    PAYLOADS,
    RECEIVERS,
    SENDS,
)

IMPOSSIBLE = -1
ENTRY = np.dtype([("next", np.int64), ("actions", np.int64), ("messages", np.int64)])
"""An entry; ``next`` is ``IMPOSSIBLE`` if the table says so."""
CHOICE = np.dtype([("event", np.int64), ("conditions", np.int64)])
"""An event of a trigger, if all its conditions hold."""
FORM = np.dtype(
    [("network", np.int64), ("to", np.int64), ("carries", np.int64), ("ordered", np.int64)]
)
"""A message: numbers of its network, receiver and payload; whether its network keeps order."""


class ControllerArrays(NamedTuple):
    """One side: ``entries[state, event]``, and ``choices[trigger, k]``, tried from k = 0 up.

    Triggers are the protocol's messages, then what is internal, in the order of
    ``vocabulary.INTERNAL``.
    """

    entries: np.ndarray
    choices: np.ndarray


class ProtocolArrays(NamedTuple):
    """Both sides, and the messages that they share."""

    l1: ControllerArrays
    home: ControllerArrays
    forms: np.ndarray


def export(protocol: Protocol) -> ProtocolArrays:
    """The arrays of a protocol."""
    networks, receivers, payloads = list(NETWORKS), list(RECEIVERS), list(PAYLOADS)
    rows = [
        (
            networks.index(form.network),
            receivers.index(form.to),
            payloads.index(form.carries),
            protocol.networks[form.network] == "ordered",
        )
        for form in protocol.messages.values()
    ]
    l1, home = _controller(protocol, protocol.l1), _controller(protocol, protocol.home)
    return ProtocolArrays(l1, home, np.array(rows, FORM))


def triggers(protocol: Protocol, side: str) -> list[str]:
    """What the first index of ``choices`` stands for."""
    return [*protocol.messages, *INTERNAL[side]]


def bit(words: dict[str, str], word: str) -> int:
    """The bit of a condition or action."""
    return 1 << list(words).index(word)


def _controller(protocol: Protocol, table: ControllerTable) -> ControllerArrays:
    states, events, messages = list(table.states), list(table.events), list(protocol.messages)
    actions, conditions = ACTIONS[table.side], CONDITIONS[table.side]
    entries = np.zeros((len(states), len(events)), ENTRY)
    for (state, event), entry in table.entries.items():
        row = entries[states.index(state), events.index(event)]
        row["next"] = IMPOSSIBLE if entry.impossible else states.index(entry.next)
        row["actions"] = sum(bit(actions, word) for word in entry.actions)
        row["actions"] |= bit(actions, SENDS) if entry.sends else 0
        row["messages"] = sum(1 << messages.index(name) for name in entry.sends)
    known = triggers(protocol, table.side)
    most = max(len(list(table.choices(trigger))) for trigger in known)
    choices = np.full((len(known), max(1, most)), -1, CHOICE)
    for number, trigger in enumerate(known):
        for k, (when, event) in enumerate(table.choices(trigger)):
            row = choices[number, k]
            row["event"] = events.index(event)
            row["conditions"] = sum(bit(conditions, word) for word in when)
    return ControllerArrays(entries, choices)

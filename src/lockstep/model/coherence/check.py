"""What must be true of a protocol's table; every error names the table, the row and what to do."""

from collections.abc import Iterator

from lockstep.errors import unknown
from lockstep.model.coherence.table import SIDES, ControllerTable, Protocol, ProtocolError
from lockstep.model.coherence.vocabulary import INTERNAL, MEMORY_REPLIES, NETWORKS

ORDERS = ("ordered", "unordered")


def check(protocol: Protocol) -> None:
    """Raise :class:`ProtocolError` with everything that is wrong, a line each."""
    wrong = [*_networks(protocol), *_messages(protocol)]
    for side in SIDES:
        table = getattr(protocol, side)
        wrong += [f"{side}.{text}" for text in _controller(protocol, table)]
    if wrong:
        raise ProtocolError("\n".join(f"{protocol.name}, {text}" for text in wrong))


def received(protocol: Protocol, side: str) -> set[str]:
    """The messages that a side gets."""
    to = ("home",) if side == "home" else ("requester", "owner", "sharers")
    return {name for name, form in protocol.messages.items() if form.to in to}


def _networks(protocol: Protocol) -> Iterator[str]:
    for network in NETWORKS:
        order = protocol.networks.get(network)
        if order not in ORDERS:
            yield f"networks, {network}: {order!r} is no order; say ordered or unordered"
    for network in protocol.networks.keys() - NETWORKS.keys():
        yield f"networks: {unknown('network', network, NETWORKS)}; leave it out"


def _messages(protocol: Protocol) -> Iterator[str]:
    """Every message has a sender and a receiver; memory knows what it is asked."""
    sent = {
        message
        for side in SIDES
        for entry in getattr(protocol, side).entries.values()
        for message in entry.sends
    }
    for name, form in protocol.messages.items():
        if form.to == "memory":
            if name not in MEMORY_REPLIES:
                yield f"messages, {name}: {unknown('message of memory', name, MEMORY_REPLIES)}"
                continue
            reply = MEMORY_REPLIES[name]
            if reply and reply not in protocol.messages:
                yield f"messages, {name}: memory answers {reply}; add it"
            sent.add(reply)
    for name in protocol.messages.keys() - sent:
        yield f"messages, {name}: nobody sends it; leave it out, or send it"


def _controller(protocol: Protocol, table: ControllerTable) -> Iterator[str]:
    yield from _names(protocol, table)
    yield from _pairs(protocol, table)
    yield from _reached(table)


def _names(protocol: Protocol, table: ControllerTable) -> Iterator[str]:
    known = received(protocol, table.side) | INTERNAL[table.side].keys()
    for name, event in table.events.items():
        for trigger in event.on:
            if trigger not in known:
                yield f"events, {name}: {unknown('operation or message', trigger, known)}"
    for trigger in sorted(known - set(table.triggers)):
        yield f"events: {trigger} has none; add an event on it"
    for trigger in table.triggers:
        conditions = [when for when, _ in table.choices(trigger)]
        if conditions[-1]:
            yield f"events: {trigger} has none without a condition; end with one"
        if () in conditions[:-1]:
            yield f"events: one on {trigger} comes after one without a condition; put it before"
    for state in sorted(table.unreached.keys() - set(table.states)):
        yield f"unreached: {unknown('state', state, table.states)}; leave it out"


def _pairs(protocol: Protocol, table: ControllerTable) -> Iterator[str]:
    """Every pair has an entry, and what it does can be done."""
    for state in table.states:
        for event, form in table.events.items():
            where = f"rows, {state}, {event}"
            entry = table.entries.get((state, event))
            if entry is None:
                yield f"{where}: no entry; add one, or say why it is impossible: '! reason'"
                continue
            if entry.next not in table.states:
                yield f"{where}: {unknown('state', entry.next, table.states)}"
            for message in entry.sends:
                if (protocol.messages[message].to == "home") != (table.side == "l1"):
                    yield f"{where}: {message} is not this side's to send; use another message"
            if table.side == "l1":
                operation = all(name in INTERNAL["l1"] for name in form.on)
                yield from (f"{where}: {text}" for text in _l1_actions(entry.actions, operation))


def _l1_actions(actions: tuple[str, ...], operation: bool) -> Iterator[str]:
    if "stall" in actions and (operation or len(actions) > 1):
        yield "only a message stalls, and nothing else happens; say wait for operations"
    if "wait" in actions and not operation:
        yield "only an operation waits; say stall for messages"
    ends = [word for word in actions if word in ("perform", "answer", "done", "wait")]
    if len(ends) > 1:
        yield f"{' and '.join(ends)} exclude each other; leave one"


def _reached(table: ControllerTable) -> Iterator[str]:
    """Every state can be come to from the first, along possible entries."""
    reached, new = set(), {table.states[0]}
    while new:
        reached |= new
        entries = table.entries.items()
        new = {entry.next for (state, _), entry in entries if state in new and not entry.impossible}
        new &= set(table.states) - reached
    for state in table.states:
        if state not in reached and state not in table.unreached:
            yield f"states, {state}: no entry leads here; add one, or a reason to unreached"
        if state in reached and state in table.unreached:
            yield f"unreached, {state}: an entry leads here; leave the reason out"

"""Protocols as data: what a controller does for each state and event.

A protocol is a TOML file in ``protocols`` with messages and two controllers, ``l1`` and ``home``
(the L2 slice of a line, with the directory if there is one). A controller has states, events, and
an entry for every pair of them. Something that happens, an operation or a message, is the first
event of those listed for it whose conditions all hold. An entry is

    "action, action, MESSAGE -> NEXT"   what is done; without an arrow the state stays
    "! reason"                          impossible
    "... ? reason"                      possible, but not with two L1s and one line

``vocabulary.py`` has the words. ``check.py`` says what must be true of a table, ``library.py``
reads those that are there.
"""

import tomllib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lockstep.errors import LockstepError, unknown
from lockstep.model.coherence.vocabulary import (
    ACTIONS,
    CONDITIONS,
    NETWORKS,
    PAYLOADS,
    RECEIVERS,
    SENDS,
)

SIDES = ("l1", "home")


class ProtocolError(LockstepError):
    """A protocol's table is incomplete or contradicts itself; the message names table and row."""


class MessageForm(NamedTuple):
    """A kind of message: its network, who gets it, what data it carries."""

    network: str
    to: str
    carries: str
    means: str


class ProtocolEvent(NamedTuple):
    """An event of a controller: any of ``on`` (operations, messages), if all of ``when`` hold."""

    on: tuple[str, ...]
    when: tuple[str, ...]


class Transition(NamedTuple):
    """What a pair of state and event leads to.

    ``actions`` (the controller's, in the order of carrying out) and ``sends`` (messages) happen,
    then the state is ``next``. ``impossible`` is a reason, or ""; so is ``unreached``, why two L1s
    with one line never come here.
    """

    actions: tuple[str, ...]
    sends: tuple[str, ...]
    next: str
    impossible: str = ""
    unreached: str = ""


class ControllerTable(NamedTuple):
    """One side of a protocol. The first state is that of a line that is not here."""

    side: str
    stable: Mapping[str, str]
    transient: Mapping[str, str]
    unreached: Mapping[str, str]
    events: Mapping[str, ProtocolEvent]
    entries: Mapping[tuple[str, str], Transition]

    @property
    def states(self) -> tuple[str, ...]:
        """Stable states, then transient ones."""
        return (*self.stable, *self.transient)

    @property
    def triggers(self) -> tuple[str, ...]:
        """Operations and messages that the controller reacts to, in the order of events."""
        return tuple(dict.fromkeys(name for event in self.events.values() for name in event.on))

    def choices(self, trigger: str) -> Iterator[tuple[tuple[str, ...], str]]:
        """Conditions and event, in the order in which they are tried."""
        for name, event in self.events.items():
            if trigger in event.on:
                yield event.when, name


class Protocol(NamedTuple):
    """A protocol as it stands in its file; ``networks`` says which keep messages in order."""

    name: str
    title: str
    about: str
    source: str
    networks: Mapping[str, str]
    messages: Mapping[str, MessageForm]
    l1: ControllerTable
    home: ControllerTable


def parse(name: str, text: str) -> Protocol:
    """A protocol of a file's text; raises :class:`ProtocolError` for what is no table."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProtocolError(f"{name}: not TOML: {error}") from error
    try:
        messages = {key: MessageForm(**value) for key, value in data["messages"].items()}
        for key, form in messages.items():
            _known(f"{name}, message {key}", "network", form.network, NETWORKS)
            _known(f"{name}, message {key}", "receiver", form.to, RECEIVERS)
            _known(f"{name}, message {key}", "payload", form.carries, PAYLOADS)
        l1, home = (_controller(name, side, data[side], messages) for side in SIDES)
        head = (data["title"], data["about"].strip(), data["source"])
        return Protocol(name, *head, dict(data["networks"]), messages, l1, home)
    except (AttributeError, KeyError, TypeError) as error:
        what = f"lacks {error}" if isinstance(error, KeyError) else f"has a wrong form: {error}"
        raise ProtocolError(f"{name}: the table {what}; nmoesi.toml shows a whole one") from error


def _known(where: str, what: str, word: str, known: Mapping[str, object]) -> None:
    if word not in known:
        raise ProtocolError(f"{where}: {unknown(what, word, known)}; vocabulary.py has all")


def _controller(
    name: str, side: str, data: dict, messages: Mapping[str, MessageForm]
) -> ControllerTable:
    events = {}
    for key, value in data["events"].items():
        event = ProtocolEvent(tuple(value["on"].split()), tuple(value.get("when", "").split()))
        for word in event.when:
            _known(f"{name}, {side}.events, {key}", "condition", word, CONDITIONS[side])
        events[key] = event
    states = data["stable"] | data["transient"]
    entries: dict[tuple[str, str], Transition] = {}
    for row, cells in data["rows"].items():
        for state in row.split():
            where = f"{name}, {side}.rows, {state}"
            if state not in states:
                raise ProtocolError(f"{where}: {unknown('state', state, states)}; add it or rename")
            for key, text in cells.items():
                for event in key.split():
                    if event not in events:
                        raise ProtocolError(f"{where}: {unknown('event', event, events)}")
                    if (state, event) in entries:
                        raise ProtocolError(f"{where}: {event} has two entries; leave one")
                    entry = _entry(f"{where}, {event}", side, state, text, messages)
                    entries[state, event] = entry
    parts = (data["stable"], data["transient"], data["unreached"])
    return ControllerTable(side, *parts, events, entries)


def _entry(
    where: str, side: str, state: str, text: str, messages: Mapping[str, MessageForm]
) -> Transition:
    """What the text of an entry says."""
    if text.startswith("!"):
        if not (reason := text[1:].strip()):
            raise ProtocolError(f"{where}: impossible without a reason; say why after the !")
        return Transition((), (), state, impossible=reason)
    text, mark, unreached = text.partition("?")
    if mark and not unreached.strip():
        raise ProtocolError(f"{where}: not reached without a reason; say why after the ?")
    text, arrow, after = text.partition("->")
    if arrow and not after.strip():
        raise ProtocolError(f"{where}: an arrow without a state; name the next one")
    words = [word.strip() for word in text.split(",") if word.strip()]
    there = {word: "" for word in (*ACTIONS[side], *messages) if word != SENDS}
    for word in words:
        _known(where, "action or message", word, there)
    actions = tuple(action for action in ACTIONS[side] if action in words)
    sends = tuple(message for message in messages if message in words)
    return Transition(actions, sends, after.strip() or state, unreached=unreached.strip())

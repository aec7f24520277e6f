"""The page of the protocols: ``python -m lockstep.model.coherence.document docs/coherence.md``."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from lockstep.model.coherence.library import load, names
from lockstep.model.coherence.table import SIDES, ControllerTable, Protocol, Transition
from lockstep.model.coherence.vocabulary import (
    ACTIONS,
    CONDITIONS,
    CONTROL_BYTES,
    LINE_BYTES,
    NETWORKS,
    OPERATIONS,
    PAYLOADS,
    RECEIVERS,
    SENDS,
)

_SIDES = {"l1": "L1", "home": "home: the L2 slice of a line, with the directory"}
_HEAD = f"""# Coherence protocols

<!-- generated: python -m lockstep.model.coherence.document docs/coherence.md -->

Protocols are tables in `src/lockstep/model/coherence/protocols`: what an L1 and the home of a
line do for every pair of a state and an event. They are checked when they are read, carried out
with values by a machine of their own (`tests/coherence_twin`), and exported as arrays
(`src/lockstep/model/coherence/arrays.py`), by which the caches of compute units carry out NMOESI
or SI in time: `--set coherence.protocol=nmoesi` ([parameters](gpus.md)). SMs keep what VI promises
by their own means: [scopes](scopes.md). An L1's line of a compute unit in
transition has an MSHR entry there, the home's is locked in its way; requests, forwards and
responses have networks of their own. Kernels begin with empty L1s. Without a protocol caches do
what `l1.protocol` and `l2.protocol` say.

```python
import lockstep

gpu = lockstep.gpu("HD7970", ["coherence.protocol=nmoesi"])
assert gpu.coherence.protocol == "nmoesi"
```

`python scripts/coherence.py search` tries all orders of events with two L1s, one line and six
messages under way (states that differ in the names of the L1s alone are one), `random` takes
random steps with up to four L1s and lines of up to 64 bytes, and `litmus` runs litmus tests, with
`--timed` those of scopes through the model of time.
What it found is in [DEVIATIONS](../DEVIATIONS.md#coherence-protocols).

In the tables below, an operation or message is the first event listed for it whose conditions all
hold. Actions and messages are in the order in which they are carried out. Entries that take more
than two L1s say so. A message takes {CONTROL_BYTES} bytes, and {LINE_BYTES} more with data.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *map(_protocol, names()), _words()])


def _protocol(name: str) -> str:
    protocol = load(name)
    orders = ", ".join(f"{network} {order}" for network, order in protocol.networks.items())
    rows = (
        (f"`{key}`", form.network, form.to, form.carries, form.means)
        for key, form in protocol.messages.items()
    )
    parts = [
        f"## {protocol.title}\n",
        protocol.about + "\n",
        f"Source: {protocol.source}. Networks: {orders}.\n",
        _table(("message", "network", "to", "carries", "means"), rows),
    ]
    parts += [_controller(protocol, getattr(protocol, side)) for side in SIDES]
    return "\n".join(parts)


def _controller(protocol: Protocol, table: ControllerTable) -> str:
    states = [(f"`{state}`", text) for state, text in {**table.stable, **table.transient}.items()]
    events = [
        (f"`{name}`", _code(event.on), " and ".join(_code([word]) for word in event.when))
        for name, event in table.events.items()
    ]
    rows = [row for state in table.states for row in _rows(table, state)]
    return "\n".join(
        [
            f"### {protocol.title}, {_SIDES[table.side]}\n",
            _table(("state", "meaning"), states),
            _table(("event", "on", "if"), events),
            _table(("state", "events", "actions and messages", "next"), rows),
        ]
    )


def _rows(table: ControllerTable, state: str) -> list[tuple[str, str, str, str]]:
    """Entries of a state; events with the same one in a row."""
    groups: dict[Transition, list[str]] = {}
    for event in table.events:
        groups.setdefault(table.entries[state, event], []).append(event)
    rows = []
    for entry, events in groups.items():
        does, after = _code(_steps(table.side, entry)), entry.next
        if entry.impossible:
            does, after = f"impossible: {entry.impossible}", ""
        elif unreached := entry.unreached or table.unreached.get(state, ""):
            does += f" ({unreached})"
        rows.append((f"`{state}`", _code(events), does or "nothing", f"`{after}`" if after else ""))
    return rows


def _steps(side: str, entry: Transition) -> list[str]:
    """Actions and messages in their order."""
    steps: list[str] = []
    for word in ACTIONS[side]:
        if word == SENDS:
            steps.extend(entry.sends)
        elif word in entry.actions:
            steps.append(word)
    return steps


def _words() -> str:
    """What the words of the tables mean."""
    parts = ["## Words\n"]
    lists = {
        "operation": OPERATIONS,
        "condition of an L1": CONDITIONS["l1"],
        "condition of a home": CONDITIONS["home"],
        "action of an L1": ACTIONS["l1"],
        "action of a home": ACTIONS["home"],
        "network": NETWORKS,
        "receiver": RECEIVERS,
        "payload": PAYLOADS,
    }
    for title, words in lists.items():
        rows = [(f"`{w}`", text) for w, text in words.items() if w != SENDS]
        parts.append(_table((title, "meaning"), rows))
    return "\n".join(parts)


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")

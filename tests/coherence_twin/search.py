"""Every order of everything that can happen to one line: breadth first, each state once.

What a load may return depends on generations, of which there is no end; but only which of those
that are still somewhere is older. So generations are renamed by age, and states are finitely many
as long as messages under way are bounded.
"""

from collections.abc import Iterator
from typing import NamedTuple

from coherence_twin.machine import Impossible, Machine, Message
from coherence_twin.shadow import Violation
from lockstep.model.coherence.table import Protocol

OPERATIONS = {
    "nmoesi": ("load", "store", "store_glc"),
    "si": ("load", "load_glc", "load_slc", "store", "store_glc", "store_slc", "atomic"),
    "vi": ("load", "load_glc", "load_slc", "store", "store_slc", "atomic"),
}
"""What L1s do, beside evictions and invalidations; an atomic is as a coherent store in NMOESI."""


class Outcome(NamedTuple):
    """What a search found: how many states and steps, and which entries came up."""

    states: int
    steps: int
    visited: set[tuple[str, str, str]]


class Wrong(AssertionError):
    """A violation, with the steps that lead to it."""


def search(
    protocol: Protocol,
    l1s: int = 2,
    size: int = 1,
    in_flight: int = 6,
    operations: tuple[str, ...] | None = None,
    far: bool = False,
    values: bool = False,
) -> Outcome:
    """Try all orders; raises :class:`Wrong` with a shortest way to what is wrong.

    An operation or an eviction begins only while fewer than ``in_flight`` messages are under way.
    Without ``values``, states that differ in what bytes hold are one: each is checked along the way
    on which it was found first.
    """
    operations = OPERATIONS[protocol.name] if operations is None else operations
    first = Machine(protocol, l1s, size, far)
    first.visited = set()
    numbers = {key(first, values): 0}
    came: list[tuple[int, str]] = [(0, "")]
    onward: list[list[int]] = []  # states that follow without anything new
    frontier, steps = [first], 0
    while frontier:
        found = []
        for machine in frontier:
            number = len(onward)
            onward.append([])
            for label, ours, step in successors(machine, operations, in_flight):
                other = machine.clone()
                steps += 1
                try:
                    if not step(other):
                        continue
                    settle(other)
                except (Violation, Impossible, AssertionError) as error:
                    raise Wrong(f"{error}\n" + "\n".join(_way(came, number) + [label])) from error
                name = key(other, values)
                if name not in numbers:
                    numbers[name] = len(came)
                    came.append((number, label))
                    found.append(other)
                if not ours:
                    onward[number].append(numbers[name])
        frontier = found
    quiet = [k for k, name in enumerate(numbers) if not name[1] and not any(name[2])]
    stuck = _cannot_reach(onward, quiet)
    if stuck:
        raise Wrong("nothing can move any more\n" + "\n".join(_way(came, stuck[0])))
    return Outcome(len(came), steps, first.visited)


def successors(machine: Machine, operations: tuple[str, ...], in_flight: int) -> Iterator:
    """``(what it is, whether it begins something, how it is done)`` of every step."""
    generation = max(machine.shadow.index, default=0) + 1
    generation = 1 + max(
        [generation]
        + [copy.access.generation for copy in machine.l1s if copy.access]
        + [g for row in machine.shadow.pending for g in row]
        + [g for message in machine.network for g in message.data]
    )
    room = len(machine.network) < in_flight
    for l1, copy in enumerate(machine.l1s):
        if room and copy.access is None:
            for kind in operations:
                if kind == "atomic" and machine.far:
                    continue  # nobody models it
                for mask in _masks(machine, kind):
                    yield (
                        f"L1 {l1} {kind} {mask:b}",
                        True,
                        lambda m, c=l1, k=kind, b=mask: _begin(m, c, k, b, generation),
                    )
        elif copy.access is not None and not machine.waits(l1, copy.access.kind):
            yield f"L1 {l1} looks again", False, lambda m, c=l1: m.retry(c) is None
        if copy.access is not None and copy.state in machine.protocol.l1.transient:
            for kind in operations:  # of other wavefronts
                if kind != "atomic" or not machine.far:
                    assert machine.waits(l1, kind), f"{kind} does not wait"
        if room:
            yield f"L1 {l1} evict", True, lambda m, c=l1: m.internal(c, "evict")
            yield f"L1 {l1} invalidate", True, lambda m, c=l1: m.internal(c, "invalidate")
    if room:
        yield "home evict", True, Machine.evict
    for k in machine.arriving():
        label = str(machine.network[k])
        yield label, False, lambda m, k=k: m.arrive(k)
        if machine.network[k].to == -1:
            yield f"{label} and no MSHR", True, lambda m, k=k: m.arrive(k, no_mshr=True)


def _masks(machine: Machine, kind: str) -> range | tuple[int, ...]:
    """All stores of one byte and of all; other operations of all."""
    if kind.startswith("store") and machine.size > 1:
        return (1, machine.whole)
    return (machine.whole,)


def _begin(machine: Machine, l1: int, kind: str, mask: int, generation: int) -> bool:
    machine.begin(l1, kind, mask, generation if not kind.startswith("load") else 0)
    return True


def settle(machine: Machine) -> None:
    """What must be true in every state: one writer or many readers, and a directory that knows."""
    machine.results.clear()
    if machine.home.state in machine.protocol.home.stable:
        machine.home.saved = -1  # nobody looks at it again
    if not machine.exclusive:
        return
    stable = machine.protocol.l1.stable
    held = [k for k, copy in enumerate(machine.l1s) if copy.valid and copy.state in stable]
    alone = [l1 for l1 in held if machine.l1s[l1].state in machine.exclusive]
    assert not alone or len(held) == 1, f"L1s {held} have the line, {alone} alone"
    for l1 in held:
        assert machine.home.sharers >> l1 & 1, f"the directory does not know of L1 {l1}"
    assert not held or machine.home.valid == machine.whole, "an L1 has what the L2 has not"


def key(machine: Machine, values: bool) -> tuple:
    """A machine's state; the second part is what is under way, the third which operations wait."""
    return _with_values(machine) if values else _without(machine)


def _without(machine: Machine) -> tuple:
    home = machine.home
    return (
        tuple((c.state, c.valid, c.dirty) for c in (*machine.l1s, home)),
        _sorted(machine, [m[:4] for m in machine.network]),
        tuple(c.access and (c.access.kind, c.access.mask) for c in machine.l1s),
        _directory(machine),
        tuple(m[:4] for m in home.deferred),
    )


def _directory(machine: Machine) -> tuple:
    home = machine.home
    return home.sharers, home.owner, home.saved, home.awaited, home.mixed


def _with_values(machine: Machine) -> tuple:
    """Generations are renamed by age, and bytes that mean nothing left out."""
    shadow = machine.shadow
    copies = [*machine.l1s, machine.home]
    messages = [*machine.network, *machine.home.deferred]
    live = {0, *shadow.current, *machine.memory}
    for copy in copies:
        live.update(g for k, g in enumerate(copy.data) if copy.valid >> k & 1)
        if copy.access:
            live.add(copy.access.generation)
    for message in messages:
        live.update(g for k, g in enumerate(message.data) if message.mask >> k & 1)
    for row in shadow.pending:
        live.update(row)
    floors = [*shadow.floors, *(copy.access.floor for copy in machine.l1s if copy.access)]
    ages = sorted(
        {shadow.index[g] for g in live if g in shadow.index} | {i for r in floors for i in r}
    )
    age = {index: number for number, index in enumerate(ages)}
    own = sorted(g for g in live if g not in shadow.index)
    name = {g: age[shadow.index[g]] if g in shadow.index else -1 - own.index(g) for g in live}

    def bytes_of(data, mask):
        return tuple(name[g] if mask >> k & 1 else None for k, g in enumerate(data))

    def message_of(m: Message):
        return (m.kind, m.to, m.l1, m.mask, bytes_of(m.data, m.mask))

    def access_of(a):
        return a and (a.kind, a.mask, name[a.generation], tuple(age[i] for i in a.floor))

    return (
        tuple((c.state, c.valid, c.dirty, bytes_of(c.data, c.valid)) for c in copies),
        _sorted(machine, [message_of(m) for m in machine.network]),
        tuple(access_of(copy.access) for copy in machine.l1s),
        _directory(machine),
        tuple(message_of(m) for m in machine.home.deferred),
        tuple(name[g] for g in machine.memory),
        tuple(name[g] for g in shadow.current),
        tuple(tuple(age[i] for i in row) for row in shadow.floors),
        tuple(tuple(name[g] for g in row) for row in shadow.pending),
    )


def _sorted(machine: Machine, messages: list[tuple]) -> tuple:
    """Messages whose order means nothing, in an order of their own."""
    forms, orders = machine.protocol.messages, machine.protocol.networks
    by_network: dict[str, list] = {}
    for message in messages:
        by_network.setdefault(forms[message[0]].network, []).append(message)
    parts = []
    for network in sorted(by_network):
        part = by_network[network]
        if orders[network] == "unordered":
            part.sort(key=str)
        else:  # only messages on one way have an order
            part.sort(key=lambda m: (m[1], m[2] if network != "memory" else 0))
        parts.extend(part)
    return tuple(parts)


def _cannot_reach(onward: list[list[int]], quiet: list[int]) -> list[int]:
    """The states from which no quiet one can be reached without anything new."""
    back: list[list[int]] = [[] for _ in onward]
    for number, after in enumerate(onward):
        for other in after:
            back[other].append(number)
    good, work = set(quiet), list(quiet)
    while work:
        for number in back[work.pop()]:
            if number not in good:
                good.add(number)
                work.append(number)
    return [number for number in range(len(onward)) if number not in good]


def _way(came: list[tuple[int, str]], number: int) -> list[str]:
    steps = []
    while number:
        number, label = came[number]
        steps.append(label)
    return steps[::-1]


def coverage(protocol: Protocol, visited: set[tuple[str, str, str]]) -> tuple[list, list]:
    """Possible entries that are not marked and did not come up; marked ones that did."""
    unreached, marked = [], []
    for side in ("l1", "home"):
        table = getattr(protocol, side)
        for (state, event), entry in table.entries.items():
            if entry.impossible:
                continue
            expected = not entry.unreached and state not in table.unreached
            reached = (side, state, event) in visited
            if expected and not reached:
                unreached.append((side, state, event))
            if reached and not expected:
                marked.append((side, state, event))
    return unreached, marked

"""One line under a protocol: L1s, its home, memory, and messages that take as long as they like.

The machine carries out a table by its names, one step at a time: an operation that an L1 begins or
looks at again, an eviction, or one message that arrives. Which step comes next is the caller's
choice, so that all orders can be tried. Bytes hold *generations*, numbers that no two writes share;
``shadow.py`` says which of them a load may return. Nothing here is quick: ``runner.py`` is.
"""

from typing import NamedTuple

from coherence_twin.shadow import Shadow
from lockstep.model.coherence.table import ControllerTable, Protocol, Transition
from lockstep.model.coherence.vocabulary import MEMORY_REPLIES

HOME, MEMORY = -1, -2
EXCLUSIVE = {"nmoesi": ("E", "M"), "si": (), "vi": ()}
"""States in which an L1 has the only copy: what it writes there is ordered at once."""


class Message(NamedTuple):
    """A message under way: ``l1`` is the L1 that it comes from, goes to, or is about; or -1."""

    kind: str
    to: int
    l1: int
    mask: int = 0
    data: tuple[int, ...] = ()


class Access(NamedTuple):
    """An operation of an L1: bytes, what a write puts there, and the oldest that it may see."""

    kind: str
    mask: int
    generation: int = 0
    floor: tuple[int, ...] = ()


class Copy:
    """A line in an L1, or in its home with the directory."""

    def __init__(self, state: str, size: int):
        self.state, self.data, self.valid, self.dirty = state, [0] * size, 0, 0
        self.access: Access | None = None  # from here on: of an L1
        self.unacknowledged = 0
        self.sharers, self.owner, self.saved, self.awaited = 0, -1, -1, 0  # of a home
        self.mixed = False
        self.deferred: list[Message] = []

    def key(self) -> tuple:
        """Everything, to compare."""
        return (
            self.state, tuple(self.data), self.valid, self.dirty, self.access, self.unacknowledged,
            self.sharers, self.owner, self.saved, self.awaited, self.mixed, tuple(self.deferred),
        )  # fmt: skip

    def clone(self) -> "Copy":
        """Another one that is the same."""
        other = Copy.__new__(Copy)
        other.__dict__.update(self.__dict__)
        other.data, other.deferred = self.data[:], self.deferred[:]
        return other


class Impossible(AssertionError):
    """An entry came up that the table calls impossible."""


class Machine:
    """A line of ``size`` bytes and ``l1s`` L1s; ``far`` if its memory is another device's."""

    def __init__(self, protocol: Protocol, l1s: int, size: int, far: bool = False):
        self.protocol, self.size, self.far = protocol, size, far
        self.exclusive = EXCLUSIVE[protocol.name]
        self.whole = (1 << size) - 1
        self.l1s = [Copy(protocol.l1.states[0], size) for _ in range(l1s)]
        self.home = Copy(protocol.home.states[0], size)
        self.memory = [0] * size
        self.network: list[Message] = []
        self.shadow = Shadow(l1s, size)
        self.results: list[tuple[int, Access, tuple[int, ...]]] = []  # done: L1, what, what it read
        self.visited: set[tuple[str, str, str]] | None = None

    def clone(self) -> "Machine":
        """Another one that is the same, with no results yet."""
        other = Machine.__new__(Machine)
        other.__dict__.update(self.__dict__)
        other.l1s, other.home = [copy.clone() for copy in self.l1s], self.home.clone()
        other.memory, other.network = self.memory[:], self.network[:]
        other.shadow, other.results = self.shadow.clone(), []
        return other

    # Steps

    def begin(self, l1: int, kind: str, mask: int, generation: int = 0) -> None:
        """An L1 that does nothing with the line begins an operation, and tries it."""
        assert self.l1s[l1].access is None
        past = kind in ("load_glc", "load_slc") and not self.exclusive
        floor = self.shadow.newest() if past else self.shadow.floor(l1)
        self.l1s[l1].access = Access(kind, mask, generation, floor)
        self.retry(l1)

    def waits(self, l1: int, kind: str) -> bool:
        """Whether an operation of an L1 would only wait if it looked at the line now."""
        entry = self._choose(self.protocol.l1, self.l1s[l1].state, self._l1_event(l1, kind))
        return entry.actions == ("wait",) and not entry.sends

    def retry(self, l1: int) -> None:
        """An L1 looks again at its operation."""
        copy = self.l1s[l1]
        assert copy.access is not None
        self._at_l1(l1, copy.access.kind, None)

    def internal(self, l1: int, kind: str) -> bool:
        """Whether an L1 could evict or invalidate the line, which it then does."""
        copy = self.l1s[l1]
        entry = self._choose(self.protocol.l1, copy.state, self._l1_event(l1, kind))
        if "wait" in entry.actions:
            return False
        if kind == "invalidate":
            self.shadow.invalidate(l1)
        self._at_l1(l1, kind, None)
        return True

    def evict(self) -> bool:
        """Whether the home could evict the line, which it then does: not what is in transition."""
        if self.home.state not in self.protocol.home.stable or not self.home.valid:
            return False
        self._at_home("evict", Message("evict", HOME, -1), False)
        return True

    def arriving(self) -> list[int]:
        """Which messages could arrive next: all but those behind others of an ordered network."""
        found, before = [], set()
        for k, message in enumerate(self.network):
            network = self.protocol.messages[message.kind].network
            line = (network, message.to, message.l1 if network != "memory" else 0)
            if self.protocol.networks[network] == "unordered" or line not in before:
                found.append(k)
            before.add(line)
        return found

    def arrive(self, k: int, no_mshr: bool = False) -> bool:
        """Message ``k`` arrives; False if it stalls. ``no_mshr``: no entry is free for a fetch."""
        message = self.network.pop(k)
        if message.to == MEMORY:
            self._at_memory(message)
        elif message.to == HOME:
            self._at_home(message.kind, message, no_mshr)
        elif not self._at_l1(message.to, message.kind, message):
            self.network.insert(k, message)
            return False
        return True

    # Controllers

    def _choose(self, table: ControllerTable, state: str, event: str) -> Transition:
        entry = table.entries[state, event]
        if entry.impossible:
            raise Impossible(f"{self.protocol.name}, {table.side}, {state}, {event}: impossible")
        if self.visited is not None:
            self.visited.add((table.side, state, event))
        return entry

    def _l1_event(self, l1: int, trigger: str) -> str:
        copy = self.l1s[l1]
        mask = copy.access.mask if copy.access is not None else 0
        true = {"far": self.far, "valid": mask & ~copy.valid == 0, "full": mask == self.whole}
        return _event(self.protocol.l1, trigger, true)

    def _at_l1(self, l1: int, trigger: str, message: Message | None) -> bool:
        copy = self.l1s[l1]
        entry = self._choose(self.protocol.l1, copy.state, self._l1_event(l1, trigger))
        access = copy.access
        if "stall" in entry.actions:
            return False
        if "fill" in entry.actions:
            self._merge(copy, message, ~copy.dirty)
        if "perform" in entry.actions:
            self._perform(l1, access, entry.next in self.exclusive)
        if "answer" in entry.actions:
            self._done(l1, access, message.data)
        if "done" in entry.actions:
            self.shadow.wrote(l1, access.mask, access.generation)
            self._done(l1, access, ())
        if "posted" in entry.actions:
            copy.unacknowledged += 1
        if "acknowledged" in entry.actions:
            copy.unacknowledged -= 1
        for name in entry.sends:
            self._send(name, copy, HOME, l1, access, message)
        if "wait" in entry.actions and entry.sends:
            copy.access = access._replace(floor=self.shadow.newest())
        self._leave(copy, entry)
        return True

    def _at_home(self, trigger: str, message: Message, no_mshr: bool) -> None:
        home, sender = self.home, message.l1
        whole = home.valid == self.whole
        others = home.sharers & ~(1 << sender) if sender >= 0 else home.sharers
        true = {
            "no_mshr": no_mshr and not whole,
            "valid": whole,
            "owned": home.owner not in (-1, sender),
            "from_owner": home.owner == sender,
            "sharer": sender >= 0 and home.sharers >> sender & 1,
            "alone": not others,
            "unmixed": not home.mixed,
            "unshared": not home.sharers,
            "last": home.awaited == 1,
            "dirty": home.dirty != 0,
        }
        network = self.protocol.messages[trigger].network if trigger != "evict" else ""
        entry = self._choose(
            self.protocol.home, home.state, _event(self.protocol.home, trigger, true)
        )
        if "save" in entry.actions:
            home.saved = sender
        requester = home.saved if network == "response" else sender
        if "merge" in entry.actions:
            self.shadow.order(sender, message.mask, message.data)
            self._merge(home, message, message.mask)
            home.dirty |= message.mask
        if "fill" in entry.actions:
            self._merge(home, message, ~home.valid)
        found: tuple[int, ...] = ()
        if "atomic" in entry.actions:
            self.shadow.exact(message.mask, home.data)
            found = tuple(home.data)
            self.shadow.order(sender, message.mask, message.data)
            self._merge(home, message, message.mask)
            home.dirty |= message.mask
        self._directory(entry, sender, requester)
        for name in entry.sends:
            form = self.protocol.messages[name]
            if form.to == "memory":
                if form.carries == "message":
                    self.shadow.order(sender, message.mask, message.data)
                self._send(name, home, MEMORY, requester, None, message)
                continue
            for l1 in self._receivers(form.to, requester):
                self._send(name, home, l1, l1, None, message, found)
                home.awaited += form.network == "forward"
        if "defer" in entry.actions:
            home.deferred.append(message)
        self._leave(home, entry)
        if "replay" in entry.actions:
            deferred, home.deferred = home.deferred, []
            for request in deferred:
                self._at_home(request.kind, request, False)

    def _directory(self, entry: Transition, sender: int, requester: int) -> None:
        home = self.home
        if "answered" in entry.actions:
            home.awaited -= 1
        if "mix" in entry.actions:
            home.mixed = True
        if "remove" in entry.actions:
            home.sharers &= ~(1 << sender)
            home.owner = -1 if home.owner == sender else home.owner
            home.mixed = home.mixed and home.sharers != 0
        if "disown" in entry.actions:
            home.owner = -1
        if "forget" in entry.actions:
            home.sharers, home.owner, home.mixed = 0, -1, False
        if "share" in entry.actions:
            home.sharers |= 1 << requester
        if "own" in entry.actions:
            home.owner = requester

    def _receivers(self, to: str, requester: int) -> list[int]:
        if to == "requester":
            return [requester]
        if to == "owner":
            return [self.home.owner] if self.home.owner not in (-1, requester) else []
        apart = (requester, self.home.owner)
        return [k for k in range(len(self.l1s)) if self.home.sharers >> k & 1 and k not in apart]

    def _at_memory(self, message: Message) -> None:
        for k, value in enumerate(message.data):
            if message.mask >> k & 1:
                self.memory[k] = value
        if reply := MEMORY_REPLIES[message.kind]:
            data = tuple(self.memory) if self.protocol.messages[reply].carries == "line" else ()
            mask = self.whole if data else 0
            self.network.append(Message(reply, HOME, message.l1, mask, data))

    # Data

    def _send(self, name, copy, to, l1, access, message, found=()) -> None:
        carries = self.protocol.messages[name].carries
        mask, data = 0, ()
        if carries == "line":
            assert copy.valid == self.whole, f"{name} of a line that is not whole"
            mask, data = self.whole, tuple(copy.data)
        elif carries == "dirty":
            mask, data = copy.dirty, tuple(copy.data)
        elif carries == "operand":
            mask, data = access.mask, (access.generation,) * self.size
        elif carries == "message":
            mask, data = message.mask, message.data
        elif carries == "found":
            mask, data = message.mask, found
        self.network.append(Message(name, to, l1, mask, data))

    def _merge(self, copy: Copy, message: Message, mask: int) -> None:
        mask &= message.mask
        for k in range(self.size):
            if mask >> k & 1:
                copy.data[k] = message.data[k]
        copy.valid |= mask

    def _perform(self, l1: int, access: Access, exclusive: bool) -> None:
        copy = self.l1s[l1]
        if exclusive:  # what was written before without coherence is ordered first
            self.shadow.order(l1, copy.dirty, copy.data)
        found = tuple(copy.data)
        if access.kind.startswith(("load", "atomic")):
            assert access.mask & ~copy.valid == 0, "a load of bytes that are not valid"
            if exclusive:
                self.shadow.exact(access.mask, copy.data)
        if not access.kind.startswith("load"):
            self.shadow.wrote(l1, access.mask, access.generation)
            for k in range(self.size):
                if access.mask >> k & 1:
                    copy.data[k] = access.generation
            copy.valid |= access.mask
            copy.dirty |= access.mask
            if exclusive:
                self.shadow.order(l1, access.mask, copy.data)
        self._done(l1, access, found if access.kind.startswith(("load", "atomic")) else ())

    def _done(self, l1: int, access: Access, found: tuple[int, ...]) -> None:
        if access.kind.startswith("load"):
            self.shadow.read(l1, access.mask, access.floor, found)
        self.results.append((l1, access, found))
        self.l1s[l1].access = None

    def _leave(self, copy: Copy, entry: Transition) -> None:
        if "clean" in entry.actions:
            copy.dirty = 0
        if "drop" in entry.actions:
            assert copy.dirty == 0, f"dirty bytes are dropped in {copy.state}"
            copy.valid = 0
        copy.state = entry.next


CHOICES: dict[int, tuple[ControllerTable, dict[str, list]]] = {}
"""Events by trigger of tables that were asked, by ``id``: half of a litmus run is asking."""


def _event(table: ControllerTable, trigger: str, true: dict[str, object]) -> str:
    """The first event on a trigger whose conditions hold."""
    known = CHOICES.get(id(table))
    if known is None:
        known = CHOICES[id(table)] = table, {t: list(table.choices(t)) for t in table.triggers}
    for when, name in known[1][trigger]:
        for word in when:
            if not true[word]:
                break
        else:
            return name
    raise AssertionError(f"no event of {table.side} on {trigger}")

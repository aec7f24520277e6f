"""Random steps on the machine by names: the steps of ``runner.py``, one for one."""

from collections.abc import Sequence

from coherence_twin.machine import Machine
from lockstep.model.coherence.vocabulary import OPERATIONS

KINDS = list(OPERATIONS)
EVICT, INVALIDATE = KINDS.index("evict"), KINDS.index("invalidate")
_64 = (1 << 64) - 1


def draw(seed: int, number: int) -> int:
    """A random word: SplitMix64 of a counter (Steele et al., OOPSLA 2014)."""
    z = (seed + (number + 1) * 0x9E3779B97F4A7C15) & _64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _64
    return (z ^ (z >> 31)) >> 1


class Episode:
    """An episode of random steps; ``kinds`` are numbers of operations."""

    def __init__(self, machine: Machine, seed: int, kinds: Sequence[int]):
        self.machine, self.seed, self.kinds = machine, seed, kinds
        self.generations, self.number, self.digest = 0, 0, 0

    def step(self) -> None:
        """One of: an L1 begins an operation or looks again, evicts, the home evicts, an arrival."""
        word = draw(self.seed, self.number)
        self.number += 1
        machine = self.machine
        what, l1 = word & 15, (word >> 4 & 255) % len(machine.l1s)
        if what < 5:
            if machine.l1s[l1].access is not None:
                self._again(l1)
            else:
                self._begin(l1, word)
        elif what == 5:
            machine.internal(l1, "evict" if word >> 12 & 1 else "invalidate")
        elif what == 6 and word >> 12 & 1:
            machine.evict()
        else:
            self._arrive(word >> 12 & 255, word >> 20 & 7 == 0)

    def end(self) -> None:
        """What is under way comes to its end, and the caches are emptied; all is checked."""
        self._drain()
        for l1 in range(len(self.machine.l1s)):
            self.machine.internal(l1, "evict")
        self._drain()
        self.machine.evict()
        self._drain()
        self.machine.shadow.final(self.machine.memory)

    def fold(self) -> int:
        """The digest of ``runner.digest``, after this step."""
        machine, values = self.machine, []
        l1_states, home_states = machine.protocol.l1.states, machine.protocol.home.states
        for copy in machine.l1s:
            values += [l1_states.index(copy.state), copy.valid, copy.dirty, copy.unacknowledged]
            values += [copy.access is not None]
            values += [g for k, g in enumerate(copy.data) if copy.valid >> k & 1]
        home = machine.home
        values += [home_states.index(home.state), home.valid, home.dirty, home.sharers]
        values += [home.owner, home.awaited, home.mixed]
        values += [m + 3 * c for m, c in zip(machine.memory, machine.shadow.current)]
        for value in [*values, len(machine.network)]:
            self.digest = (self.digest * 31 + value) & _64
        return self.digest

    def _begin(self, l1: int, word: int) -> None:
        size = self.machine.size
        length = min(1 << (word >> 18 & 63) % 7, size)
        start = (word >> 12 & 63) % size
        start -= start % length
        mask = 0
        for k in range(start, start + length):
            mask |= 1 << min(k, size - 1)
        kind = KINDS[self.kinds[(word >> 24 & 255) % len(self.kinds)]]
        self.generations += not kind.startswith("load")
        self.machine.begin(l1, kind, mask, 0 if kind.startswith("load") else self.generations)

    def _again(self, l1: int) -> None:
        access = self.machine.l1s[l1].access
        if access is not None and not self.machine.waits(l1, access.kind):
            self.machine.retry(l1)

    def _arrive(self, number: int, no_mshr: bool) -> None:
        if able := self.machine.arriving():
            self.machine.arrive(able[number % len(able)], no_mshr)

    def _drain(self) -> None:
        machine = self.machine
        for _ in range(200_000):
            if not machine.network and all(copy.access is None for copy in machine.l1s):
                return
            word = draw(self.seed, self.number)
            self.number += 1
            self._again((word >> 4 & 255) % len(machine.l1s))
            self._arrive(word >> 12 & 255, False)
        raise AssertionError("not at an end")

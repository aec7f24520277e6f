"""Litmus tests on the machine by names: threads on L1s, a line for each location.

A thread issues in program order and waits for nothing but what it must: a register that an
instruction needs, a fence, or the L1's older access to the same line. So loads overtake each other,
and stores arrive at the homes of their lines whenever they like. Instructions are

    st[.SCOPE] x 1          ld[.SCOPE] x a        atom.SCOPE x 1 a      (x = 1, found a)
    st.release.SCOPE x 1    ld.acquire.SCOPE x a
    fence.SCOPE             all before, to its scope, before all after
    wait                    s_waitcnt vmcnt(0): all of this thread before is done
    need a                  what follows depends on a

with scopes cta, gpu and sys; none is weak. On Southern Islands gpu stands for GLC, and
``fence.gpu`` for ``s_waitcnt vmcnt(0)`` with ``buffer_wbinvl1``.
"""

import functools
import random
from typing import NamedTuple

from coherence_twin.machine import Machine
from lockstep.model.coherence.table import Protocol

HOST = -1
SUFFIX = {"": "", "cta": "", "gpu": "_glc", "sys": "_slc"}


class Litmus(NamedTuple):
    """A test: what threads do on which L1 (``HOST``: past all caches), and an outcome.

    ``outcome`` are values of registers and, at the end, of locations. ``verdict`` is "forbidden",
    "seen" (allowed, and some seed shows it), or "unseen" (allowed by the rules of the programming
    model, but these caches are stricter). Locations in ``far`` are in the host's memory.
    """

    name: str
    protocol: str
    threads: tuple[tuple[int, str], ...]
    outcome: str
    verdict: str
    far: str = ""


class Instruction(NamedTuple):
    """``what`` is an operation of an L1, or "fence", "wait", "need"."""

    what: str
    place: str = ""
    value: int = 0
    register: str = ""
    scope: str = ""


@functools.cache
def parse(text: str) -> list[Instruction]:
    """The instructions of a thread, with releases and acquires as fences."""
    found: list[Instruction] = []
    for line in text.split(";"):
        opcode, *rest = line.split()
        base, *words = opcode.split(".")
        scope = words[-1] if words else ""
        if base == "st":
            if "release" in words:
                found.append(Instruction("fence", scope=scope))
            found.append(Instruction("store" + SUFFIX[scope], rest[0], int(rest[1])))
        elif base == "ld":
            found.append(Instruction("load" + SUFFIX[scope], rest[0], register=rest[1]))
            if "acquire" in words:
                found.append(Instruction("fence", scope=scope))
        elif base == "atom":
            found.append(Instruction("atomic", rest[0], int(rest[1]), rest[2]))
        elif base == "need":
            found.append(Instruction("need", register=rest[0]))
        else:
            found.append(Instruction(base, scope=scope))
    return found


class Silent:
    """In place of a shadow, where a host writes memory behind the caches' back."""

    def __getattr__(self, name):
        return lambda *arguments: (0,)


class _Thread:
    def __init__(self, l1: int, code: list[Instruction]):
        self.l1, self.code, self.next = l1, code, 0
        self.out: dict[str, Instruction] = {}  # accesses under way, by place

    def done(self) -> bool:
        return self.next == len(self.code) and not self.out


class _Run:
    """One run, with all that is random drawn from one generator."""

    def __init__(self, protocol: Protocol, test: Litmus, seed: int):
        self.random = random.Random(seed)
        self.threads = [_Thread(l1, parse(text)) for l1, text in test.threads]
        self.registers: dict[str, int] = {}
        l1s = 1 + max(thread.l1 for thread in self.threads)
        places = sorted({i.place for t in self.threads for i in t.code if i.place})
        self.lines = {p: Machine(protocol, l1s, 1, p in test.far) for p in places}
        for place, line in self.lines.items():
            if place in test.far:
                line.shadow = Silent()
        # Some threads, and some L1s' ways to some lines, are slow, each run others: else what
        # takes luck is hardly seen.
        self.speeds = [self.random.choice((1, 8)) for _ in self.threads]
        self.ways = {(p, k): self.random.choice((1, 0.05)) for p in places for k in range(-1, l1s)}
        self.waiting: dict[tuple[str, int], _Thread] = {}  # whose access an L1 works on
        self.steps: dict[str, list] = {}  # what a line could do, until it has changed
        self.places = list(self.lines.items())
        self._warm(l1s)

    def _warm(self, l1s: int) -> None:
        """Some L1s have some lines before anything begins."""
        for line in self.lines.values():
            for l1 in range(l1s):
                if self.random.random() < 0.5:
                    line.begin(l1, "load", 1)
                    while line.network:
                        line.arrive(line.arriving()[0])
            line.results.clear()

    def go(self) -> dict[str, int]:
        """Registers, and what memory has when the caches are empty."""
        while not all(thread.done() for thread in self.threads):
            self._step()
        for place, line in self.lines.items():
            self._drain(place, line)
            for l1 in range(len(line.l1s)):
                line.internal(l1, "evict")
            self.steps.clear()
            self._drain(place, line)
            line.evict()
            self.steps.clear()
            self._drain(place, line)
        return self.registers | {place: line.memory[0] for place, line in self.lines.items()}

    def _step(self) -> None:
        chance = self.random.random()
        if chance < 0.4:
            self._issue(self.random.choices(self.threads, self.speeds)[0])
        elif chance < 0.45:
            place, line = self.random.choice(self.places)
            self.steps.pop(place, None)
            if self.random.random() < 0.5:
                line.evict()
            else:
                line.internal(self.random.randrange(len(line.l1s)), "evict")
        else:
            place, line = self.random.choice(self.places)
            self._advance(place, line)
            self._collect(place, line)

    def _advance(self, place: str, line: Machine) -> None:
        able = self.steps.get(place)
        if able is None:
            able = self.steps[place] = [(0, k) for k in line.arriving()]
            for l1, copy in enumerate(line.l1s):
                if copy.access is not None and not line.waits(l1, copy.access.kind):
                    able.append((1, l1))
        if able:
            what, number = self.random.choice(able)
            way = place, number if what else line.network[number].l1
            if self.random.random() > self.ways[way]:
                return
            del self.steps[place]
            if what:
                line.retry(number)
            else:
                line.arrive(number, no_mshr=self.random.random() < 0.1)

    def _drain(self, place: str, line: Machine) -> None:
        while line.network or any(copy.access is not None for copy in line.l1s):
            self._advance(place, line)

    def _collect(self, place: str, line: Machine) -> None:
        for l1, _, found in line.results:
            thread = self.waiting.pop((place, l1))
            instruction = thread.out.pop(place)
            if instruction.register:
                self.registers[instruction.register] = found[0]
        line.results.clear()

    def _issue(self, thread: _Thread) -> None:
        if thread.next == len(thread.code):
            return
        instruction = thread.code[thread.next]
        place = instruction.place
        if instruction.what == "need":
            thread.next += instruction.register in self.registers
        elif not place:
            thread.next += self._fenced(thread, instruction)
        elif thread.l1 == HOST:
            memory = self.lines[place].memory
            if instruction.register:
                self.registers[instruction.register] = memory[0]
            if instruction.what.startswith(("store", "atomic")):
                memory[0] = instruction.value
            thread.next += 1
        elif (place, thread.l1) not in self.waiting:
            thread.next += 1
            thread.out[place] = instruction
            self.waiting[place, thread.l1] = thread
            line = self.lines[place]
            line.begin(thread.l1, instruction.what, 1, instruction.value)
            self.steps.pop(place, None)
            self._collect(place, line)

    def _fenced(self, thread: _Thread, fence: Instruction) -> bool:
        """Whether a fence is done."""
        if thread.l1 == HOST:
            return True
        if thread.out:
            return False
        if fence.scope == "cta":
            return True
        lines = self.lines.values()
        if any(line.l1s[thread.l1].unacknowledged for line in lines):
            return False
        if fence.what == "fence":
            self.steps.clear()
            for line in lines:
                line.internal(thread.l1, "invalidate")
        return True


def shows(protocol: Protocol, test: Litmus, seed: int) -> bool:
    """Whether a run ends with the outcome of a test."""
    values = _Run(protocol, test, seed).go()
    wanted = (word.split("=") for word in test.outcome.split())
    return all(values[name] == int(value) for name, value in wanted)

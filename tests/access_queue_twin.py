"""An access queue without any art: lists, searched from one end to the other."""

from collections import Counter
from dataclasses import dataclass, field

from lockstep.isa.instruction import OpClass

LINE = 64
HIT, MISS, STAY = 3, 17, 25  # cycles to data, of a fetch, and that a line is here after it
READ, WRITE, ATOMIC, REDUCTION = OpClass.LOAD, OpClass.STORE, OpClass.ATOMIC, OpClass.REDUCTION


class Level:
    """An L1 that fetches a line in MISS cycles, and keeps it for STAY.

    It refuses what ``refuses(cycle, line)`` says.
    """

    def __init__(self, refuses):
        self.comes, self.refuses = {}, refuses

    def pending(self, line, now):
        return self.comes.get(line, now) > now

    def access(self, kind, line, now):
        """The cycle of the data; None: it is refused."""
        if self.refuses(now, line):
            return None
        if kind != READ:
            return now + MISS if kind == ATOMIC else 0
        if not self.comes.get(line, -STAY) <= now < self.comes.get(line, -STAY) + STAY:
            if not self.pending(line, now):
                self.comes[line] = now + MISS
            return self.comes[line]
        return now + HIT


@dataclass
class Instruction:
    """What the lanes of a wavefront do; an address of None is of a lane that is not active."""

    op: OpClass
    width: int
    cache: int
    addresses: list


@dataclass
class Entry:
    line: int
    instruction: Instruction
    number: int
    numbers: list = field(default_factory=list)
    waiting: list = field(default_factory=list)
    bytes: set = field(default_factory=set)
    words: Counter = field(default_factory=Counter)
    until: int | None = None  # of the port; None = it has none


class Twin:
    """The queue of one CU. ``sent`` and ``counts`` are what it did."""

    def __init__(self, vmu, program, room, refuses):
        self.vmu, self.program, self.room = vmu, list(program), room
        self.level, self.entries, self.sent = Level(refuses), [], []
        self.current, self.phase, self.number = None, 0, 0
        self.counts = Counter()
        self.coalesces, self.merges = (
            vmu.join in ("coalesce", "both"),
            vmu.join in ("merge", "both"),
        )
        self.waits = vmu.order == "multi2sim"

    def same(self, entry, instruction, line):
        of = entry.instruction
        return (entry.line, of.op, of.cache) == (line, instruction.op, instruction.cache)

    def mate(self, instruction, line):
        own = [e for e in self.entries if e.number == self.number]
        others = self.entries
        if self.coalesces:
            for entry in own:
                if self.same(entry, instruction, line):
                    return entry
            others = [e for e in self.entries if e.number != self.number]
        if not self.merges or not self.entries:
            return None
        if instruction.op == READ:
            for entry in reversed(others):
                if entry.instruction.op != READ:
                    return None
                if self.same(entry, instruction, line):
                    return entry
            return None
        newest = self.entries[-1]
        fits = instruction.op == WRITE and newest in others and newest.until is None
        return newest if fits and self.same(newest, instruction, line) else None

    def put(self, address, low, high, now):
        instruction, line = self.current, low // LINE
        entry = self.mate(instruction, line)
        of = "load" if instruction.op == READ else "store"
        self.counts[f"vmu_{of}_requests"] += 1
        joined = False
        if entry is not None:
            joined = self.number in entry.numbers or entry.until is None
            if not joined:
                joined = self.send(entry, self.number, now, entry.bytes | {low})
        if not joined:
            entry = Entry(line, instruction, self.number)
            self.entries.append(entry)
            self.counts[f"vmu_{of}_accesses"] += 1
        else:
            self.counts[f"vmu_{of}_merged"] += entry.number != self.number
        if self.number not in entry.numbers:
            entry.numbers.append(self.number)
            if entry.until is None:
                entry.waiting.append(self.number)
        if entry.until is None:
            entry.bytes |= set(range(low, high))
            entry.words[address] += 1

    def send(self, entry, number, now, touched):
        op = entry.instruction.op
        if self.level.access(op, entry.line, now) is None:
            return False
        full = 0
        if op == WRITE:
            full = int(len(touched) == LINE)
        elif op in (ATOMIC, REDUCTION):
            full = max(entry.words.values()) if self.coalesces else 1
        self.sent.append((now, number, entry.line, int(op), full))
        return True

    def may_go(self, n):
        entry = self.entries[n]
        if entry.until is not None:
            return False
        older = self.entries[:n] if self.waits else []
        if any(e.instruction.op != READ for e in older):
            return False
        return entry.instruction.op != READ or all(e.line != entry.line for e in older)

    def stays(self, entry, now):
        if entry.until is None or entry.until > now:
            return True
        return entry.instruction.op == READ and self.level.pending(entry.line, now)

    def serve(self, now):
        chosen = [self.entries[n] for n in range(len(self.entries)) if self.may_go(n)]
        for entry in chosen[: self.vmu.ports]:
            while entry.waiting:  # the one that came last is the first
                if not self.send(entry, entry.waiting[-1], now, entry.bytes):
                    return
                entry.waiting.pop()
                if entry.instruction.op != READ:
                    entry.waiting.clear()
            entry.until = now + HIT
            if not (self.merges or self.waits):
                self.entries.remove(entry)

    def enter(self, now):
        lanes = LANES // self.vmu.phases
        self.phase += 1
        last = self.phase * lanes
        first = 0 if self.coalesces else last - lanes
        if not self.coalesces or last == LANES:
            waiting = sum(len(e.waiting) for e in self.entries)
            if max(len(self.entries), waiting) + 4 * (last - first) > self.room:
                self.phase -= 1
                return
            for address in self.current.addresses[first:last]:
                low = address
                while low is not None and low < address + self.current.width:
                    high = min(address + self.current.width, (low // LINE + 1) * LINE)
                    self.put(address, low, high, now)
                    low = high
        if last == LANES:
            self.current = None

    def tick(self, now):
        if self.merges or self.waits:
            self.entries = [e for e in self.entries if self.stays(e, now)]
        self.serve(now)
        if self.current is None and self.program:
            self.current, self.phase = self.program.pop(0), 0
            self.number += 1
        if self.current is not None:
            self.enter(now)


LANES = 64

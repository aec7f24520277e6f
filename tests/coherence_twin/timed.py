"""Litmus tests in the model of time: four instances of a test are a kernel of a few warps each.

Threads are warps of one lane, with random pauses before and between what the test says, random
loads of its locations before, which fill L1s, and warps beside them that keep caches busy. The
instructions are those of the PTX front end. The model carries no data: values are followed by its
notes (``lockstep.model.witness``): what a slice carries out, in which order, what an L1 had, kept
and got.
"""

import random
from collections import defaultdict, deque
from unittest import mock

import numpy as np

from coherence_twin.litmus import Litmus
from coherence_twin.timed_warps import ALL, Effect, Warp, idle
from lockstep import engine
from lockstep.engine import machine, ranks
from lockstep.gpus import library
from lockstep.gpus.spec import GPU
from lockstep.isa.instruction import OpClass, blank
from lockstep.model import witness
from lockstep.model.link import KIND_ATOMIC, KIND_READ, KIND_WRITE
from lockstep.workload import ADDRESS, RUN, WARP, Code, Cta, Kernel, Workload

BASE, LINE = 1 << 24, 128
PLACES = 64  # lines that an instance has for itself
BESIDE = 1 << 22  # where warps that only keep caches busy read and write
OTHER_REGISTER = 4
HOT = 64  # bytes from a location to what others use of its line: another sector
SECTOR = 1  # of a line, in which its location is
ROOM = 1 << 16  # notes of an SM
A_RUN = 200  # instances that one simulation runs
TOGETHER, SMS = 4, 4  # ... that one kernel runs, and SMs that each of them has


def gpu(seed: int, protocol: str = "vi", **changes) -> GPU:
    """A GPU whose latencies are drawn by lot."""
    lot = random.Random(seed)
    hop = lot.choice((5, 20, 60))
    l2 = lot.choice((150, 250)) + 2 * hop
    return library.replace(
        library.gpu("QV100"),
        **{
            "sm.count": TOGETHER * SMS,
            "sm.ctas": 1,
            "launch.overhead": 0,
            "sm.front_end.l1_bytes": 0,
            "dram.channels": lot.choice((1, 2, 4)),
            "interconnect.latency": hop,
            "l2.latency": l2,
            "dram.latency": l2 + lot.choice((100, 300)),
            "coherence.protocol": protocol,
        }
        | {name.replace("__", "."): value for name, value in changes.items()},
    )


class Instance:
    """An instance of a test, with all that is random drawn by its seed."""

    def __init__(self, test: Litmus, seed: int, number: int, stress: bool = False):
        lot = random.Random(f"{test.name} {seed}")
        first = BASE + number * PLACES * LINE
        names = sorted({w for _, t in test.threads for w in t.split() if w in "xyz"})
        lines = lot.sample(range(PLACES), len(names))
        self.places = {name: first + k * LINE for name, k in zip(names, lines)}
        registers: dict[str, int] = {}
        self.ctas: dict[int, list[Warp]] = defaultdict(list)
        spread = lot.choice((30, 200, 700))
        for l1, text in test.threads:
            warp = Warp()
            self._prepare(warp, lot, spread)
            for line in text.split(";"):
                warp.perform(line.strip(), self.places, registers)
                if lot.random() < 0.3:
                    warp.pause(lot, lot.choice((20, 300)))
            self.ctas[l1].append(warp)
        for warps in self.ctas.values():
            lot.shuffle(warps)
        if not any("bar" in text.replace("membar", "") for _, text in test.threads):
            self._crowd(lot)  # a barrier would wait for those
            if stress:
                self._stress(lot)
        for warps in self.ctas.values():
            for warp in warps:
                warp.add(OpClass.EXIT)

    def _prepare(self, warp: Warp, lot: random.Random, spread: int) -> None:
        """Some lines are in some L1s, or on their way there."""
        for address in self.places.values():
            if lot.random() < 0.6:
                warp.add(OpClass.LOAD, address, OTHER_REGISTER)
                if lot.random() < 0.7:
                    warp.needs(OTHER_REGISTER)
        warp.pause(lot, spread)

    def _crowd(self, lot: random.Random) -> None:
        """Warps beside those of the test keep L1s busy, or the slice of one of its locations."""
        hot = lot.choice(list(self.places.values())) + HOT
        often = lot.choice((0, 0.5, 0.9))
        for l1 in range(SMS):
            warps = self.ctas[l1] if l1 in self.ctas or lot.random() < often else []
            for _ in range(lot.choice((0, 0, 1, 2))):
                warp = Warp()
                busy = lot.random() < often
                for _ in range(lot.randrange(1, 12)):
                    address = hot if busy else BESIDE + lot.randrange(256) * LINE
                    op = lot.choice((OpClass.LOAD, OpClass.STORE, OpClass.REDUCTION))
                    if busy and lot.random() < 0.8:
                        op, warp.mask = OpClass.REDUCTION, ALL
                    if op == OpClass.LOAD:
                        warp.add(OpClass.LOAD, address, OTHER_REGISTER)
                    else:
                        warp.add(op, address)
                    warp.pause(lot, 20 if busy else 60)
                warps.append(warp)

    def _stress(self, lot: random.Random) -> None:
        """Each SM of the test has warps that flood the partition of one location, or of another.

        So a store of the SM waits for a credit there, while its loads go elsewhere: as stress of
        one part of memory does on GPUs (Sorensen and Donaldson, PLDI 2016).
        """
        places = list(self.places.values())
        for warps in self.ctas.values():
            for _ in range(lot.choice((1, 2, 3))):
                warp = Warp()
                hot, warp.mask = lot.choice(places) + HOT, ALL
                op = lot.choice((OpClass.REDUCTION, OpClass.REDUCTION, OpClass.STORE))
                warp.pause(lot, lot.choice((20, 300)))
                for _ in range(lot.randrange(8, 40)):
                    warp.add(op, hot)
                warps.append(warp)

    def needs(self, code: list[dict], first: int, most: int) -> list[tuple[list, list, list]]:
        """Warps, runs and addresses of each CTA, of ``most`` warps; their code is appended.

        ``first``: the number of the first CTA.
        """
        self.starts = {}
        ctas = []
        for n, warps in enumerate(self.ctas.values()):
            rows, runs, addresses = [], [], []
            for w in range(most):
                warp = warps[w] if w < len(warps) else idle()
                self.starts[first + n, w] = len(code), warp
                counts = len(warp.addresses), len(warp.records), len(warp.records)
                rows.append((len(runs), 1, len(addresses), *counts))
                runs.append((len(code), len(warp.records), warp.mask))
                addresses += [(a, 0, -1) for a in warp.addresses]
                code += warp.records
            ctas.append((rows, runs, addresses))
        return ctas

    def effect(self, who: int) -> Effect | None:
        """What an instruction is in the test; None: it is there beside it."""
        code = who & ((1 << witness.CODE_BITS) - 1)
        warp = who >> witness.CODE_BITS & ((1 << witness.WARP_BITS) - 1)
        cta = who >> witness.CODE_BITS >> witness.WARP_BITS
        start, of = self.starts[cta, warp]
        return of.effects.get(code - start)


def records_of(code: list[dict]) -> np.ndarray:
    """INSTRUCTION records from their fields."""
    records = blank(len(code))
    records["pc"] = np.arange(len(code)) * 16
    for record, fields in zip(records, code):
        for name, value in fields.items():
            if isinstance(value, tuple):
                record[name][: len(value)] = value
            else:
                record[name] = value
    return records


def kernel(instances: list[Instance], number: int) -> Kernel:
    """A kernel that runs some instances side by side."""
    most = max(len(warps) for instance in instances for warps in instance.ctas.values())
    code: list[dict] = []
    made: list[tuple[list, list, list]] = []
    for instance in instances:
        made += instance.needs(code, len(made), most)

    def ctas():
        for n, (rows, runs, addresses) in enumerate(made):
            streams = np.array(rows, WARP), np.array(runs, RUN), np.array(addresses, ADDRESS)
            yield Cta((n, 0, 0), *streams, np.zeros(0, np.int64))

    return Kernel(
        id=number,
        name="litmus",
        grid=(len(made), 1, 1),
        block=(32 * most, 1, 1),
        registers=32,
        shared_bytes=0,
        code=Code(records_of(code), [""]),
        ctas=ctas,
    )


def run(instances: list[Instance], on: GPU) -> machine.Machine:
    """Run instances, some at a time; the machine, with its notes."""
    machines = []

    class Watched(machine.Machine):
        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named)
            self.witness(ROOM)
            machines.append(self)

    groups = [instances[k : k + TOGETHER] for k in range(0, len(instances), TOGETHER)]
    kernels = [kernel(group, k + 1) for k, group in enumerate(groups)]
    with mock.patch.object(ranks, "Machine", Watched):
        result = engine.run(Workload("litmus", kernels), on, threads=1)
    assert not result.stopped, result.stopped
    (found,) = machines
    for noted in (found.sm.witness, found.memory.l2.witness):
        assert int(noted.counts.max()) <= ROOM, "too many notes"
    return found


def _notes(of: witness.Witness) -> list[list[tuple]]:
    """Notes, row by row."""
    counts = of.counts.tolist()
    return [of.notes[k, :count].view(np.ndarray).tolist() for k, count in enumerate(counts)]


class Replay:
    """Values of registers and locations of all instances, from the notes of a machine."""

    def __init__(self, instances: list[Instance], done: machine.Machine):
        self.instances = instances
        self.line_bytes = int(done.sm.l1.spec[0].line_bytes)
        self.values: list[dict[str, int]] = [{} for _ in instances]
        self.written: dict[tuple, deque[int]] = defaultdict(deque)
        self.shown: dict[tuple, int] = {}
        sms = _notes(done.sm.witness)
        for s, notes in enumerate(sms):
            self._writes(s, notes)
        self.memory: dict[int, int] = defaultdict(int)
        for notes in _notes(done.memory.l2.witness):
            self._home(notes)
        assert not any(self.written.values()), "a write was not carried out"
        for s, notes in enumerate(sms):
            self._reads(s, notes)
        for instance, values in zip(instances, self.values):
            for name, address in instance.places.items():
                values[name] = self.memory[address // self.line_bytes]

    def _instance(self, line: int) -> int:
        """The number of the instance that a line belongs to, or -1."""
        number = (line * self.line_bytes - BASE) // (PLACES * LINE)
        return number if 0 <= number < len(self.instances) else -1

    def _writes(self, s: int, notes: list[tuple]) -> None:
        """What an SM writes, in its order, by line; of atomics by access."""
        for kind, line, tag, who, _, sectors, _ in notes:
            n = self._instance(line)
            if n >= 0 and kind >= 0 and kind != KIND_READ and sectors == SECTOR:
                effect = self.instances[n].effect(who)
                assert effect is not None
                of = tag if kind == KIND_ATOMIC else 0
                self.written[s, kind, line, of].append(effect.value)

    def _home(self, notes: list[tuple]) -> None:
        """What slices carry out, in their order: each answer shows the value of that moment."""
        for kind, line, tag, s, issued, sectors, _ in notes:
            if self._instance(line) < 0 or not sectors & SECTOR:
                continue
            if kind in (KIND_READ, KIND_ATOMIC):
                self.shown[s, tag, issued] = self.memory[line]
            if kind != KIND_READ:
                of = -1 - tag if kind == KIND_ATOMIC else 0
                self.memory[line] = self.written[s, kind, line, of].popleft()

    def _reads(self, s: int, notes: list[tuple]) -> None:
        """What loads of an SM find: in the L1, or in the answer that comes for them."""
        l1: dict[int, int] = {}
        awaits: dict[int, tuple[int, str]] = {}
        answer = 0
        for kind, line, tag, who, issued, sectors, here in notes:
            n = self._instance(line)
            if kind == witness.ARRIVED:
                if tag in awaits and sectors & SECTOR:
                    of, register = awaits.pop(tag)
                    self.values[of][register] = answer
            elif n < 0 or not sectors & SECTOR:
                if kind in (KIND_READ, KIND_ATOMIC):
                    awaits.pop(tag, None)
            elif kind == witness.ANSWERED:
                answer = self.shown[s, tag, issued]
                if here:
                    l1[line] = answer
            elif kind == KIND_WRITE:
                l1[line] = self.instances[n].effect(who).value
            else:
                effect = self.instances[n].effect(who)
                awaits.pop(tag, None)
                if effect is None or not effect.found:
                    continue
                if here:
                    self.values[n][effect.found] = l1[line]
                else:
                    awaits[tag] = n, effect.found


STRESS = {"interconnect__order": "partition", "interconnect__buffer": 2, "dram__channels": 4}
"""A crossbar on which requests of an SM to one partition pass those to another, soon."""


def outcomes(
    test: Litmus, seeds: range, protocol: str = "vi", stress: bool = False, **changes
) -> list[dict[str, int]]:
    """Registers and locations at the end of an instance for each seed, on one GPU."""
    instances = [Instance(test, seed, k, stress) for k, seed in enumerate(seeds)]
    on = gpu(seeds.start, protocol, **(STRESS if stress else {}) | changes)
    return Replay(instances, run(instances, on)).values


def shows(test: Litmus, values: dict[str, int]) -> bool:
    """Whether these values are the outcome of a test."""
    wanted = (word.split("=") for word in test.outcome.split())
    return all(values[name] == int(value) for name, value in wanted)


def count(test: Litmus, seeds: range, protocol: str = "vi", stress: bool = False) -> int:
    """How many seeds show the outcome of a test."""
    runs = [seeds[k : k + A_RUN] for k in range(0, len(seeds), A_RUN)]
    return sum(shows(test, v) for some in runs for v in outcomes(test, some, protocol, stress))

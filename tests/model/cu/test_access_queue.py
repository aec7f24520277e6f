"""The access queue: what joins what, who waits for whom, and when the L1 is asked."""

import random
from contextlib import ExitStack
from itertools import product
from unittest import mock

import pytest

from access_queue_twin import HIT, LANES, MISS, Instruction, Level, Twin
from lockstep.isa.instruction import OpClass, Space
from lockstep.model.cache import l1
from lockstep.model.cu import access_queue
from lockstep.workload import NOWHERE

pytestmark = pytest.mark.plain
FAR = 1 << 20
JOINS, ORDERS = ("none", "coalesce", "merge", "both"), ("line", "multi2sim")
FIELDS = [
    f"vmu_{of}_{what}" for of in ("load", "store") for what in ("requests", "accesses", "merged")
]


class Driven:
    """The queue of a CU, between a program and a level that both are the twin's."""

    def __init__(self, c, program, room, refuses):
        self.c, self.program, self.begun = c, program, 0
        self.level, self.sent, self.ended, self.now = Level(refuses), [], [], 0
        c.l1.spec[0].hit_cycles = HIT
        c.vmu.spec[0].room = room

    def take(self, c, s, now):
        if self.begun == len(self.program):
            return -1
        a = self.begun
        instruction, access = self.program[a], c.accesses[0, a]
        active = [k for k, address in enumerate(instruction.addresses) if address is not None]
        mask = sum(1 << k for k in active)
        access.mask = mask - (mask >> 63 << 64)
        access.lanes, access.code, access.remaining, access.latest = len(active), a, 1, 0
        access.space, access.address, access.warp = Space.GLOBAL, a, 0
        c.addresses[a].pool = a * LANES
        for k, lane in enumerate(active):
            c.pool[a * LANES + k] = instruction.addresses[lane]
        c.addresses[a].first = c.pool[a * LANES] if active else NOWHERE
        c.addresses[a].stride = 0
        self.begun += 1
        return a

    def present(self, c, s, access, request, transaction, now):
        op = self.program[access.code].op
        if self.level.access(op, transaction.line, now) is None:
            return l1.FULL_ENTRY
        self.sent.append(
            (now, access.code + 1, int(transaction.line), int(op), int(transaction.full))
        )
        return 0

    def run(self, twin):
        queue = self.c.vmu.state[0]
        pipeline = access_queue.memory_pipeline
        patches = [
            (access_queue, "present", self.present),
            (pipeline, "take", self.take),
            (access_queue, "instruction_of", lambda c, s, access: self.program[access.code]),
            (pipeline, "instruction_of", lambda c, s, access: self.program[access.code]),
            (pipeline, "note", lambda c, s, kind, a, at: self.ended.append(int(a))),
            (access_queue.mshr_file, "find",
             lambda cache, s, line: 0 if self.level.pending(line, self.now) else -1),
        ]  # fmt: skip
        with ExitStack() as stack:
            for where, name, what in patches:
                stack.enter_context(mock.patch.object(where, name, what))
            while self.now < 20 or queue.accesses or twin.entries or twin.current or twin.program:
                access_queue.tick(self.c, 0, self.now)
                twin.tick(self.now)
                assert self.sent == twin.sent, self.now
                assert queue.accesses == len(twin.entries), self.now
                assert queue.waiters == sum(len(e.waiting) for e in twin.entries)
                assert queue.queued == sum(e.until is None for e in twin.entries)
                self.now += 1
                assert self.now < 5000


def random_program(lot, count):
    """Instructions of few lines: in a row, apart, and by lot; some lanes are not active."""
    made = []
    for _ in range(count):
        op = lot.choice(
            [OpClass.LOAD] * 4 + [OpClass.STORE] * 3 + [OpClass.ATOMIC, OpClass.REDUCTION]
        )
        width = 4 if op in (OpClass.ATOMIC, OpClass.REDUCTION) else lot.choice([4, 4, 8, 16])
        base, stride = 4 * lot.randrange(64), lot.choice([0, 4, width, 64, 256])
        lanes = [base + stride * (k % 16 if lot.random() < 0.9 else k) for k in range(LANES)]
        if lot.random() < 0.3:
            lanes = [4 * lot.randrange(200) for _ in lanes]
        active = lot.choice([1, 1, 0.5, 0.02])
        addresses = [FAR + a if lot.random() < active else None for a in lanes]
        made.append(Instruction(op, width, lot.choice([0, 0, 0, 1]), addresses))
    return made


def in_a_row(op, base=FAR):
    return Instruction(op, 4, 0, [base + 4 * k for k in range(LANES)])


def never(now, line):
    return False


def now_and_then(now, line):
    return (now * 7 + line) % 5 == 0


def at_first(now, line):
    return now < 40


def compare(c, gpu, program, room=2048, refuses=never):
    """Drive the queue and its twin with one program; returns the queue's counters."""
    twin, driven = Twin(gpu.vmu, program, room, refuses), Driven(c, program, room, refuses)
    driven.run(twin)
    counts = {name: int(c.counters[0][name]) for name in FIELDS}
    assert counts == {name: twin.counts[name] for name in FIELDS}
    assert sorted(driven.ended) == list(range(len(program)))
    assert c.counters[0].transactions == sum(n for name, n in counts.items() if "acc" in name)
    return counts


@pytest.mark.long
@pytest.mark.parametrize(("join", "order"), list(product(JOINS, ORDERS)))
def test_it_is_as_a_naive_queue(idle_sms, tiny_cu, join, order):
    lot = random.Random(f"{join} {order}")
    load, store = in_a_row(OpClass.LOAD), in_a_row(OpClass.STORE)
    narrow = Instruction(OpClass.STORE, 4, 0, store.addresses[:16] * 4)
    for phases, ports, program, room, refuses in (
        (1, 2, random_program(lot, 7), 2048, never),
        (4, 1, random_program(lot, 7), 2048, now_and_then),
        (4, 2, random_program(lot, 7), 300, now_and_then),
        (1, 8, [load, store, load, load], 2048, never),
        (4, 1, [narrow] * 4, 2048, at_first),
        (4, 2, [load] * 12, 72, at_first),
    ):
        gpu = tiny_cu(vmu__ports=ports, vmu__join=join, vmu__phases=phases, vmu__order=order)
        if join in ("coalesce", "both"):  # all lanes enter at once
            room = max(room, 4 * LANES + 8)
        compare(idle_sms(gpu), gpu, program, room, refuses)


def load_to_use(wavefronts, watch_cu, gpu, stride=4):
    """Cycles from a load that hits to what needs it, with one SIMD: every cycle is its turn."""
    hit, wait = ("load", FAR, stride), wavefronts.wait(vector=0)
    cycles = watch_cu(wavefronts.make([hit, wait, hit, wait, "scalar"]), gpu).of(0)
    return cycles[-1] - cycles[2] - 1


@pytest.mark.parametrize(
    ("join", "phases", "ports", "later"),
    [
        ("coalesce", 1, 1, 3),  # four lines, one a cycle
        ("coalesce", 1, 2, 1),
        ("coalesce", 1, 4, 0),
        ("coalesce", 4, 4, 3),  # with the last subwavefront
        ("merge", 4, 4, 3),
        ("merge", 4, 1, 3),  # the line of each subwavefront in its cycle
        ("merge", 1, 1, 3),
        ("none", 1, 1, 63),
        ("none", 1, 2, 31),
        ("none", 4, 2, 31),
        ("none", 4, 32, 3),
    ],
)
def test_phases_and_ports_take_so_many_cycles(
    wavefronts, tiny_cu, watch_cu, join, phases, ports, later
):
    """Beyond the latency of a hit: of an L1 of no queue and a line, that is all."""
    vmu = {"vmu__join": join, "vmu__phases": phases, "vmu__ports": ports}
    gpu = tiny_cu("CANDEL", sm__subcores=1, sm__warps=40, l1__mshr_merges=256, **vmu)
    alone = load_to_use(
        wavefronts, watch_cu, tiny_cu("CANDEL", sm__subcores=1, sm__warps=40), stride=0
    )
    assert load_to_use(wavefronts, watch_cu, gpu) - alone == later
    assert alone == gpu.l1.latency


def transposed(lanes=16):
    """A wavefront's part of a transpose: 64 lanes, 16 rows of 64 elements, 4 neighbours in each."""
    return [FAR + 4096 * (k % lanes) + 4 * (k // lanes) for k in range(LANES)]


@pytest.mark.parametrize(
    ("join", "accesses", "combined"),
    [("none", 64, 0), ("coalesce", 16, 48), ("both", 16, 48), ("merge", 64, 0)],
)
@pytest.mark.parametrize("order", ORDERS)
def test_sixteen_rows_of_a_transpose(idle_sms, tiny_cu, join, order, accesses, combined):
    """64 requests go to 16 lines, but the four of a line come in different subwavefronts."""
    gpu = tiny_cu(vmu__ports=2, vmu__join=join, vmu__phases=4, vmu__order=order)
    c = idle_sms(gpu)
    counts = compare(c, gpu, [Instruction(OpClass.STORE, 4, 0, transposed())])
    assert counts["vmu_store_accesses"] == accesses
    assert counts["vmu_store_requests"] - accesses == combined


@pytest.mark.parametrize(
    ("order", "cycles"),
    [("line", [1, 2, 3]), ("multi2sim", [1, 1 + HIT, 1 + HIT + MISS])],
)
def test_who_waits_for_a_store_and_for_a_load_that_missed(idle_sms, tiny_cu, order, cycles):
    """Accesses enter in cycles 0 to 2: a store, a load of another line, and that once more."""
    gpu = tiny_cu(vmu__ports=2, vmu__order=order)
    first, second = ([FAR + line + 4 * (k % 16) for k in range(LANES)] for line in (0, 64))
    program = [
        Instruction(OpClass.STORE, 4, 0, first),
        *[Instruction(OpClass.LOAD, 4, 0, second)] * 2,
    ]
    twin, driven = Twin(gpu.vmu, program, 2048, never), Driven(idle_sms(gpu), program, 2048, never)
    driven.run(twin)
    assert [cycle for cycle, *_ in driven.sent] == cycles

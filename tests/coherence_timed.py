"""Random accesses of wavefronts to few lines under a protocol, and what must be true at the end."""

from types import SimpleNamespace
from unittest import mock

import numpy as np

import wavefront_programs
from lockstep import engine
from lockstep.engine import machine, ranks
from lockstep.gpus import library
from lockstep.isa.instruction import CachePolicy, OpClass, Space
from lockstep.model.cache import tags
from lockstep.model.coherence.library import load

ALL = -1
BASE = 1 << 20
CUS = 3
TINY = {
    "sm.count": CUS,
    "cu.neighbours": (2, 1),
    "launch.overhead": 0,
    "sm.front_end.l1_bytes": 0,  # perfect: no line of code is under way at the end
    "launch.flush_l1": False,  # so that what the caches hold can be looked at
    "l1.sets": 2,
    "l1.bytes": 2 * 64 * 2,
    "l1.mshr_entries": 4,
    "l1.miss_queue": 3,
    "coherence.evictions": 2,
    "l2.sets": 64,
}
"""Small L1s; an L2 in which all lines have room."""
CROWDED = {"l2.sets": 1, "l2.ways": 2, "l2.mshr_entries": 2, "l2.queue": 3, "l2.mshr_full": "nack"}
"""An L2 of two ways a slice that must take lines from L1s, and refuses."""


def gpu(protocol, **changes):
    """A small GPU; keywords are changes, with ``__`` for the dot."""
    changes = {name.replace("__", "."): value for name, value in changes.items()}
    return library.replace(
        library.gpu("CANDEL"), **TINY | {"coherence.protocol": protocol} | changes
    )


def random_programs(rng, wavefronts, length, lines, kinds=5):
    """Programs of loads, stores, those past the L1, and atomics; bytes that they write."""
    written = {}
    programs = []
    for _ in range(wavefronts):
        program = []
        for _ in range(length):
            kind = int(rng.integers(kinds))
            width = int(rng.choice([1, 2, 4, 8, 16]))
            line, offset = int(rng.integers(lines)), int(rng.integers(64 // width)) * width
            stride = int(rng.choice([0, width]))
            first = BASE + line * 64 + offset
            past = {"cache": int(CachePolicy.BYPASS_L1)} if kind in (2, 3) else {}
            op = (OpClass.LOAD, OpClass.STORE, OpClass.LOAD, OpClass.STORE, OpClass.ATOMIC)[kind]
            what = dict(op=op, space=Space.GLOBAL, width=width, **past)
            program.append((what, first, stride))
            if op != OpClass.LOAD:
                for lane in range(64):
                    for byte in range(first + lane * stride, first + lane * stride + width):
                        written[byte // 64] = written.get(byte // 64, 0) | 1 << byte % 64
            if rng.integers(6) == 0:
                program.append(wavefront_programs.wait(vector=int(rng.integers(3))))
        programs.append(program)
    return programs, written


def run(programs, gpu, groups=CUS, **options):
    """Run the programs, then a kernel that lets all messages arrive; the machine, as it ends."""
    machines = []

    class Watched(machine.Machine):
        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named)
            machines.append(self)

    work = wavefront_programs.make(*programs, groups=groups)
    rest = wavefront_programs.make([*["valu"] * 600], groups=1)
    rest.kernels[0].id = 2
    work.commands.append(rest.kernels[0])
    with mock.patch.object(ranks, "Machine", Watched):
        result = engine.run(work, gpu, **options)
    assert result.stopped or len(result.kernels) == 2
    return SimpleNamespace(result=result, machine=machines[-1], gpu=gpu)


def lines_of(tags_, ways):
    """(cache, line number, record, locked) of all lines that caches hold."""
    shape = tags_.shape[0]
    for row, way in zip(*np.nonzero(tags_.lines)):
        yield (
            int(row) // int(shape["sets"]),
            int(tags_.lines[row, way]) ^ tags.NO_LINE,
            ways[int(row) * int(shape["ways"]) + int(way)],
            tags_.keys[row, way] >= tags.LOCKED,
        )


def check_at_rest(done):
    """Nothing is under way; directories know exactly who has what. Returns the dirty bytes."""
    assert not done.result.stopped
    m, protocol = done.machine, load(done.gpu.coherence.protocol)
    caches = m.sm.coherent.caches
    for name in ("busy", "evicting", "out_count", "retry_count", "answer_count", "fault"):
        assert not caches[name].any(), name
    assert (caches["parked_first"] < 0).all()
    assert not m.memory.homes.slices["forward_count"].any()
    assert not m.memory.homes.slices["fault"].any()
    directory = protocol.name == "nmoesi"
    homes, dirty, seen = {}, {}, {}
    for _, line, record, locked in lines_of(m.memory.l2.tags, m.memory.homes.ways):
        assert not locked
        assert record["first"] < 0
        assert line not in homes
        homes[line] = record
        dirty[line] = int(record["dirty"])
        if directory and record["state"]:
            assert record["valid"] == ALL
    for l1, line, record, locked in lines_of(m.sm.l1.tags, m.sm.coherent.ways):
        assert not locked
        state = protocol.l1.states[int(record["state"])]
        assert state in protocol.l1.stable
        assert state != protocol.l1.states[0]
        assert record["valid"] == ALL
        seen.setdefault(line, {})[l1] = state
        dirty[line] = dirty.get(line, 0) | int(record["dirty"])
        if directory:
            assert line in homes, "the L2 has what L1s have"
    if directory:
        for line, record in homes.items():
            states = seen.get(line, {})
            assert int(record["sharers"]) == sum(1 << l1 for l1 in states), hex(line)
            owners = [l1 for l1, state in states.items() if state in "EM"]
            assert owners == ([int(record["owner"])] if record["owner"] >= 0 else [])
            assert not owners or len(states) == 1, "who may write without asking is alone"
    full = (1 << 64) - 1
    return {line: mask & full for line, mask in dirty.items() if mask}

"""Kernels written with the lane builder, for warps of any width: what no instruction set is needed
for."""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace

import numpy as np
from llvmlite import ir

from lockstep.execution.checks.findings import Findings
from lockstep.execution.checks.kinds import Check
from lockstep.execution.lanes import memory
from lockstep.execution.lanes.addresses import Access, lane_numbers
from lockstep.execution.lanes.builder import HALF, POINTER, WORD
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.types import F32, F64, I8, I16, I32, I64, PRED, Value
from lockstep.execution.launches.geometry import Geometry
from lockstep.execution.launches.launch import Executor
from lockstep.execution.memory.device_memory import DeviceMemory
from lockstep.execution.programs.program import EXITED, Ending, Recording
from lockstep.execution.programs.translation import BlockLift, Translation
from lockstep.execution.state import Window
from lockstep.isa.instruction import OpClass, Space, blank
from lockstep.workload import Origin

WARPS = 6  # of a CTA
KINDS = {
    "uint8": I8, "uint16": I16, "int32": I32, "uint32": I32, "int64": I64, "uint64": I64,
    "float32": F32, "float64": F64,
}  # fmt: skip


class Lift(BlockLift):
    """What a block is written with: ``b``, sites, and the kernel's arrays."""

    def __init__(self, builder, sites):
        super().__init__(builder)
        self.sites = sites

    def guard(self):
        return None

    def store_live(self, live):
        return None

    def site(self, window=Window.GLOBAL):
        """A new memory site."""
        self.sites.append((self.number, window))
        return ir.Constant(WORD, len(self.sites) - 1)

    def argument(self, k):
        """The kth parameter (i64, a scalar)."""
        parameters = self.b.ir.inttoptr(self.b.field("launch", "parameters"), POINTER)
        return self.b.ir.load(self.b.offset(parameters, 8 * k), typ=WORD)

    def thread(self):
        """Each lane's number in the CTA (i32)."""
        b = self.b
        first = b.ir.mul(b.field("warp", "index"), ir.Constant(WORD, b.lanes))
        start = b.splat(b.ir.trunc(first, HALF), I32)
        return Value(b.ir.add(start.ir, lane_numbers(b, I32).ir), I32)

    def access(self, k, index, size, count=1):
        """Elements of the array that is the kth parameter."""
        b = self.b
        wide = resize(b, index, I64)
        offset = b.ir.mul(wide.ir, b.constant(I64, size * count).ir)
        address = Value(b.ir.add(b.splat(self.argument(k), I64).ir, offset), I64)
        return Access(Window.GLOBAL, address, size * count, self.site())

    def load(self, k, kind, index=None):
        """Each lane's element of an array, its thread's if there is no index."""
        index = index or self.thread()
        return memory.load(self.b, self.access(k, index, kind.bytes), kind)[0]

    def store(self, k, value, index=None):
        """Write it."""
        index = index or self.thread()
        memory.store(self.b, self.access(k, index, value.type.bytes), [value])

    def nonzero(self, value):
        """The predicate: is an integer not zero."""
        b = self.b
        return Value(b.ir.icmp_unsigned("!=", value.ir, b.constant(value.type, 0).ir), PRED)


@dataclass
class Block:
    """``emit(lift)`` writes it; it may set ``lift.b.active`` to the lanes that leave."""

    emit: Callable[[Lift], None]
    ending: Ending = Ending.EXIT
    taken: int = EXITED
    next: int = EXITED
    fields: dict = field(default_factory=dict)  # more of its record
    number: int = 0
    live_out: set = field(default_factory=set)


class Kernel(Translation):
    """Blocks, one instruction each, as a kernel."""

    def __init__(self, lanes, blocks, recording=Recording.NOTHING, widths=0, **facts):
        """``widths``: of what each block's instruction accesses, for streams."""
        self.lanes, self.blocks, self.recording = lanes, blocks, recording
        self.sites, self._code, self._made = [], blank(len(blocks)), None
        self._code["width"] = widths
        self._facts = {"register_bytes": 0, "local_bytes": 0, "shared_bytes": 0} | facts
        for number, block in enumerate(blocks):
            block.number = number

    def program(self):
        """Translated once, however often it runs."""
        if self._made is None:
            self._made = super().program()
        return self._made

    def open(self, block, builder, part):
        return Lift(builder, self.sites)

    def instructions(self, block):
        return [(block.number, block)]

    def access(self, number, instruction):
        return OpClass.NOP, Space.NONE, 0

    def emit(self, lift, instruction):
        instruction.emit(lift)

    def describe(self, block, lift, record):
        record["first"], record["count"], record["collects"] = block.number, 1, 1
        record["ending"], record["taken"], record["next"] = block.ending, block.taken, block.next
        for name, value in block.fields.items():
            record[name] = value

    def facts(self):
        count = len(self.blocks)
        return self._facts | {
            "name": "k",
            "sites": self.sites,
            "symbols": [],
            "code": self._code,
            "texts": ["st"],
            "origins": [Origin("k", 1)] * count,
        }


def run(kernel, threads, *arrays):
    """Run a CTA on copies of arrays, the kernel's parameters; what it leaves in them."""
    with launch(kernel, threads, *arrays) as (execute, results):
        execute.run()
        return results()


@contextmanager
def launch(kernel, threads, *arrays, checks=Check.NOTHING):
    """What runs a CTA on copies of arrays, and what gives these as they are then."""
    storage = DeviceMemory(1 << 24, checks=checks)
    findings = Findings(checks, storage) if checks else None
    places = [storage.allocate(array.nbytes) for array in arrays]
    for place, array in zip(places, arrays):
        storage.view(place, array.nbytes)[:] = array.view(np.uint8).reshape(-1)
    program = kernel.program()
    executor = Executor(program, storage, np.zeros(1, np.int64), findings=findings)
    geometry = Geometry((1, 1, 1), (threads, 1, 1), kernel.lanes)
    parameters = np.array(places, np.int64).view(np.uint8)
    execute = SimpleNamespace(
        run=partial(executor.run, geometry, parameters),
        ctas=partial(executor.ctas, geometry, parameters),
        program=program,
        findings=findings,
    )
    try:
        yield (
            execute,
            lambda: [
                np.array(storage.view(place, array.nbytes)).view(array.dtype).reshape(array.shape)
                for place, array in zip(places, arrays)
            ],
        )
    finally:
        storage.close()


def apply(lanes, active, emit, results, *sources):
    """Results of ``emit(lift, *values)`` in the threads that are ``active`` (bool); else zero.

    ``results``: their types. Threads are those of one CTA.
    """
    outs = [np.zeros(len(active), kind) for kind in results]

    def block(lift):
        with lift.b.guarded(lift.nonzero(lift.load(0, I32))):
            values = [lift.load(1 + k, KINDS[s.dtype.name]) for k, s in enumerate(sources)]
            for k, value in enumerate(emit(lift, *values)):
                lift.store(1 + len(sources) + k, value)

    arrays = [active.astype(np.int32), *sources, *outs]
    return run(Kernel(lanes, [Block(block)]), len(active), *arrays)[1 + len(sources) :]


def masks(rng, lanes, warps):
    """Which threads of some warps are active: all, the last lane of each, none, any."""
    rows = rng.random((warps, lanes)) < rng.choice([0.1, 0.5, 0.9], (warps, 1))
    rows[0] = True
    rows[1] = np.arange(lanes) == lanes - 1
    rows[2] = np.arange(lanes) != lanes - 1
    rows[3] = False
    rows[4, lanes // 2 :] = True
    return rows.reshape(-1)

"""A SASS kernel to a program: blocks, machine code of this host, static records."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np

from lockstep.execution.flow.liveness import find_live
from lockstep.execution.lanes.addresses import Strength
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.programs import parts, translation
from lockstep.execution.programs.program import (
    EXITED,
    NOWHERE,
    SURELY,
    Ending,
    Meeting,
    Part,
    Recording,
)
from lockstep.execution.sass import instructions  # noqa: F401 (fills the table)
from lockstep.execution.sass.graph import (
    Block,
    Graph,
    asks_convergence,
    jumps_anywhere,
    meeting_of,
    members_of,
)
from lockstep.execution.sass.image import Section
from lockstep.execution.sass.lift import PREDICATES, Lift, Shared, Slots
from lockstep.execution.sass.loops import find_waiting_loops
from lockstep.execution.sass.opcodes import find
from lockstep.execution.sass.overtaking import overtaking_in
from lockstep.execution.sass.polling import idle_atomics, polling_loads
from lockstep.execution.sass.reach import reached
from lockstep.execution.sass.services import emit_service
from lockstep.execution.sass.source import RESERVED_LAST, Source, reserved_places
from lockstep.execution.sass.statics import joined
from lockstep.execution.sass.steps import clock_reads, depends_on_time, steps_of
from lockstep.execution.scheduling.machine import CLUSTER, WARPGROUP
from lockstep.isa.instruction import RESERVED_SHARED, WARP_SIZE, OpClass, Space
from lockstep.isa.sass.binary import line_at
from lockstep.isa.sass.encoding.instruction import BYTES, Instruction
from lockstep.isa.sass.encoding.operand import Constant, Immediate, Name, Operand, Register
from lockstep.workload import MOST_REGISTERS, Origin

NUMBERED = Recording.EVERYTHING | Recording.PROFILE | Recording.ACCESSES
"""Recordings whose code holds numbers of blocks or instructions."""
DEEPEST_FRAME = 16  # bytes: any; what a thread's stack needs is not known where it grows


_STRONG = {"STRONG", "VOLATILE"}
_UNSUPPORTED = "this form of it is not supported"
_OF_RESULTS = {"LOP3", "ULOP3"}  # their predicate goes into a predicate result, if they have one
NEAR = 32  # instructions between a load and the compare-and-swap that it belongs to


class Translation(translation.Translation):
    """One kernel on its way to a :class:`Program`."""

    lanes = WARP_SIZE

    def __init__(self, source: Source, recording: Recording):
        self.source, self.recording = source, recording
        self.for_debuggers = source.for_debuggers
        self.sections = reached(source)
        self.code = [i for _, decoded in self.sections for i in decoded.code]
        entries = set[int]()
        for section, (code, *_) in self.sections:
            if any(i.mnemonic != "RET" and jumps_anywhere(i) for i in code):
                entries |= {section.start + w for w in source.jumps if w < len(section.code)}
                entries |= set(source.entries)
        self.records, self.texts = joined(decoded[1:] for _, decoded in self.sections)
        self.graph = self._graph(sorted(entries))
        self.blocks = self.graph.blocks
        find_waiting_loops(self.code, self.blocks, self._polling)
        self._check_jumps()
        self.slots = Slots(max(_registers(s, decoded.code) for s, decoded in self.sections))
        self.shared = Shared([], set(), self.code, any(map(_asks_for_rank, self.code)))
        self._guarded_by_never = False
        self._waits_for_time = any(map(depends_on_time, self.code))

    def _graph(self, entries: list[int]) -> Graph:
        """The blocks; in a run that is not at issue, warps give way where they overtake others."""
        services, offered = self.source.sections[-1].start, self.source.services
        make = partial(Graph, self.code, entries, services, offered=offered)
        if Recording.AT_ISSUE in self.recording:
            return make(steps_of(self.code, self.records))
        graph = make()
        places = overtaking_in(graph, self.records)
        if not places <= {b.first for b in graph.blocks}:
            graph = make(places)
        for block in graph.blocks:
            block.overtakes = block.service is None and block.first in places
        return graph

    def _check_jumps(self) -> None:
        """Refuse jumps to where there is no code."""
        for block in self.blocks:
            if block.ending == Ending.BRANCH and block.taken is None:
                raise self.source.refuse(self.code[block.end - 1], "there is no code at its target")

    def open(self, block: Block, builder: LaneBuilder, part: Part | None) -> Lift:
        """The lift of a block."""
        shared = self.shared
        if part is not None:
            shared = shared._replace(sites=[], before=block.first_site - part.first_site)
        return Lift(self.source.name, self.slots, builder, shared)

    def begin(self, lift: Lift, block: Block) -> None:
        """A service has no instructions; others do nothing before theirs."""
        if block.service is not None:
            emit_service(lift, block)

    def instructions(self, block: Block) -> Iterable[tuple[int, Instruction]]:
        """A block's instructions with their static indices."""
        return ((k, self.code[k]) for k in range(block.first, block.end))

    def access(self, number: int, instruction: Instruction) -> tuple[OpClass, Space, int]:
        """Class, memory space and width of an instruction, as its record has them."""
        record = self.records[number]
        return record["op"], record["space"], int(record["width"])

    def strength(self, number: int, instruction: Instruction) -> Strength:
        """Strong is what a compare-and-swap in a loop of the compiler's compares with, too."""
        if number in self._polling:
            return Strength.POLL
        strong = number in self._compared or not _STRONG.isdisjoint(instruction.modifiers)
        return Strength(strong)

    @cached_property
    def _polling(self) -> set[int]:
        return polling_loads(self.code, self.records)

    @cached_property
    def _compared(self) -> set[int]:
        found = set()
        for k, swap in enumerate(self.code):
            if swap.mnemonic == "ATOMS" and "SPIN" in swap.modifiers:
                compared = _general(swap)[1]  # after the result
                for before in range(k - 1, max(k - NEAR, 0) - 1, -1):
                    load = self.code[before]
                    if load.mnemonic == "LDS" and _general(load)[0].number == compared.number:
                        found.add(before)
                        break
        return found

    def emit(self, lift: Lift, instruction: Instruction) -> None:
        """Emit one instruction by its entry in the table.

        Entries look for the operands and words that they know: where there are none of these, the
        encoding is one that no compiler is known to emit. So it is where they leave a predicate
        operand alone.
        """
        lift.heeded.clear()
        try:
            find(instruction).lift(lift, instruction)
        except (StopIteration, LookupError, TypeError, ValueError) as error:
            raise self.source.refuse(instruction, _UNSUPPORTED) from error
        if not _predicates(instruction) <= lift.heeded:
            raise self.source.refuse(instruction, _UNSUPPORTED)

    def find_live(self, lifts: Sequence[Lift]) -> None:
        """What blocks read and write is known now."""
        for block, lift in zip(self.blocks, lifts, strict=True):
            block.reads, block.writes = lift.reads, set(lift.written)
            block.first_site = lift.first_site
            block.passes = self._read_by_scheduler(block)
            block.reads |= block.passes
        if len(self.divide()) == 1:
            find_live(self.blocks, self.graph.joints)
        else:  # each function by itself, so that its code is the same for all kernels
            for first, end in self._of_sections:
                find_live(self.blocks[first:end])

    def _read_by_scheduler(self, block: Block) -> set[str]:
        """The register that the scheduler reads where a block ends."""
        if block.ending not in (Ending.BREAK, Ending.MEET):
            return set()
        members = members_of(self.code[block.end - 1])
        return {members} if isinstance(members, str) else set()

    @cached_property
    def _of_sections(self) -> list[tuple[int, int]]:
        """The first block and the end of each section; the services are one of their own."""
        found, end = [], 0
        for _, decoded in self.sections:
            end += len(decoded.code)
            found.append(sum(b.first < end for b in self.blocks))
        return list(pairwise(sorted({0, *found, len(self.blocks)})))

    def divide(self) -> list[tuple[int, int]]:
        """Large kernels are compiled function by function, large functions in several parts."""
        if not self._is_large:
            return super().divide()
        return parts.divided(self.blocks, [first for first, _ in self._of_sections])

    @property
    def _is_large(self) -> bool:
        return len(self.code) > parts.WHOLE

    @cached_property
    def _outside_loops(self) -> set[Block]:
        return parts.outside_loops(self.blocks, [first for first, _ in self._of_sections])

    def is_brief(self, block: Block) -> bool:
        """Code for debuggers, and what of large kernels is in no loop."""
        return self.for_debuggers or (self._is_large and block in self._outside_loops)

    def part(self, first: int, end: int, lifts: Sequence[Lift], granule: int) -> Part:
        """Its key tells all that its object code depends on, and nothing of who calls it."""
        blocks = self.blocks[first:end]
        begin, code = self._section_of(blocks[0])
        shapes = [
            (
                *(b.service, b.first - begin, b.end - begin, sorted(b.live_out & b.writes)),
                *(self.for_debuggers, self.is_brief(b)),
            )
            for b in blocks
        ]
        place = (first, begin) if self.recording & NUMBERED else ()
        facts = (self.source.architecture, self.slots.bytes, self.shared.clustered)
        all_facts = (code, *facts, shapes, int(self.recording), granule, place)
        key = hashlib.sha256(repr(all_facts).encode()).hexdigest()
        return Part(first, end, key, lifts[0].first_site)

    def _section_of(self, block: Block) -> tuple[int, str]:
        """The static index at which a block's section begins, and what tells its code."""
        begin = 0
        for section, decoded in self.sections:
            if block.first < begin + len(decoded.code):
                digest = hashlib.sha256(section.code).hexdigest()
                return begin, f"{section.start} {digest}"
            begin += len(decoded.code)
        return begin, ""  # a service

    def open_stream(self, lift: Lift, block: Block) -> None:
        """Services are not the kernel's instructions."""
        if block.service is None:
            super().open_stream(lift, block)

    def describe(self, block: Block, lift: Lift, record: np.void) -> None:
        """Fill a block's record."""
        record["first"], record["count"] = block.first, block.end - block.first
        record["ending"] = block.ending
        record["taken"] = EXITED if block.taken is None else block.taken.number
        record["next"] = EXITED if block.next is None else block.next.number
        record["spins"] = block.spins * (SURELY if self._waits_for_time else 1)
        record["overtakes"] = block.overtakes
        if block.service is not None:
            record["service"] = block.service
            return
        if block.ending in (Ending.BARRIER, Ending.ARRIVE):
            last = self.code[block.end - 1]
            record["taken"], record["barrier"] = record["next"], -1
            if last.mnemonic.startswith("UCGABAR"):
                record["barrier"] = CLUSTER
            elif last.mnemonic == "WARPGROUP":
                record["barrier"] = WARPGROUP
            record["reduces"] = "RED" in last.modifiers
        code = self.code[block.first : block.end]
        record["together"] = asks_convergence(code[-1])
        if block.ending == Ending.BREAK:
            record["breaks_slot"] = self.slots[members_of(code[-1])]
        if code[0].guard is not None:
            self._describe_guard(code[0].guard, record)
        if block.ending == Ending.MEET:
            end = block.end if block.next is None else block.next.end
            record["meeting"] = meeting_of(self.code[block.end - 1 : end])
            members = members_of(code[-1])
            record["parts"] = record["meeting"] == Meeting.ALONE
            if isinstance(members, str):
                record["members_slot"] = self.slots[members]
                record["parts"] |= self.graph.may_recur
            else:
                record["members"] = members

    def _describe_guard(self, guard: Register, record: np.void) -> None:
        """PT is kept nowhere: for what it never lets execute, its slot, which is cleared."""
        if not guard.is_zero:
            record["guard_slot"] = self.slots[f"{guard.file}{guard.number}"]
            record["guard_negated"] = guard.inverted
        elif guard.inverted:
            record["guard_slot"] = self.slots[f"P{PREDICATES['P']}"]
            self._guarded_by_never = True

    def facts(self) -> dict[str, Any]:
        """What a program says of the whole kernel."""
        source = self.source
        clears = self.blocks[0].live_in or self._guarded_by_never
        return {
            "name": source.name,
            "file": source.file,
            "register_bytes": self.slots.bytes,
            "local_bytes": source.local_bytes,
            "shared_bytes": source.shared_bytes,
            "reserved_shared": self._reserved_shared(),
            "reserved_last": source.architecture in RESERVED_LAST,
            "sites": self.shared.sites,
            "symbols": [f"bank{k}" for k in range(max(self.shared.banks, default=-1) + 1)],
            "entry": 0,
            "cleared_bytes": self.slots.bytes if clears else 0,
            "code": self.records,
            "texts": self.texts,
            "origins": list(self._origins()),
            "registers": source.sections[0].registers,
            "clustered": self.shared.clustered,
            "idle_atomics": idle_atomics(self.code),
            "clock_reads": [k for b in self.blocks for k in clock_reads(self.code, b)],
            "frame_bytes": DEEPEST_FRAME if self._grows() else 0,
            "targets": self._targets(),
        }

    def _grows(self) -> bool:
        """Whether the stack may hold more than the compiler has told: recursion, alloca."""
        return self.graph.may_recur or any(map(_moves_stack, self.code))

    def _reserved_shared(self) -> int:
        """Hopper's kernels with shared memory have it; of others, here those that look for it."""
        places = reserved_places(self.source.architecture)
        asks = places is not None and any(_reads_bank(i, *places) for i in self.code)
        return RESERVED_SHARED if asks else self.source.reserved_shared

    def _origins(self) -> Iterator[Origin]:
        """Where each instruction comes from."""
        for section, (code, *_) in self.sections:
            rows = self.source.lines.get(section.name, ())
            for instruction in code:
                row = line_at(rows, instruction.pc - section.start)
                sources = ((row.file, row.line), *row.calls) if row else ()
                yield Origin(section.name, 0, sources, instruction.text())

    def _targets(self) -> np.ndarray:
        """Block number by pc / 16, for jumps through registers."""
        last = max(b.pc for b in self.blocks)
        targets = np.full(last // BYTES + 1, NOWHERE, np.int64)
        for block in self.blocks:
            if block.pc >= 0:
                targets[block.pc // BYTES] = block.number
        return targets


def _registers(section: Section, code: Sequence[Instruction]) -> int:
    """How many a section's code may use; warps may be given more while they run."""
    given = [
        next((o.value for o in i.operands if isinstance(o, Immediate)), MOST_REGISTERS)
        for i in code
        if i.mnemonic == "USETMAXREG"
    ]
    return max(section.registers, *given, 0)


def _general(instruction: Instruction) -> list[Register]:
    """The operands that are general registers, results first."""
    return [o for o in instruction.operands if isinstance(o, Register) and o.file == "R"]


def _predicates(instruction: Instruction) -> set[str]:
    """The predicates among its operands, but a plain PT, and what goes into a result that is PT."""
    if instruction.mnemonic in _OF_RESULTS:
        return set()
    return {
        o.name
        for o in instruction.operands
        if isinstance(o, Register) and o.file in PREDICATES and (o.inverted or not o.is_zero)
    }


def _moves_stack(instruction: Instruction) -> bool:
    """Whether another register says where the stack ends, which R1 holds."""
    if not instruction.results or not _is_stack_pointer(instruction.operands[0]):
        return False
    return any(not (o.is_zero or _is_stack_pointer(o)) for o in _general(instruction))


def _is_stack_pointer(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.file == "R" and operand.number == 1


def _asks_for_rank(instruction: Instruction) -> bool:
    """Whether an instruction reads the CTA's rank, of which shared addresses are made."""
    return any(isinstance(o, Name) and o.word == "SR_CgaCtaId" for o in instruction.operands)


def _reads_bank(instruction: Instruction, first: int, last: int) -> bool:
    """Whether an instruction reads some words of constant bank 0.

    Code for debuggers has the place in a register; what that is added to tells it from parameters.
    """
    named = [o for o in instruction.operands if isinstance(o, Constant) and o.bank == 0]
    return any(
        (first if o.index is None or o.index.is_zero else 0) <= o.offset <= last for o in named
    )

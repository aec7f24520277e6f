"""The static instruction records of a PTX kernel, for the timing model."""

import numpy as np

from lockstep.frontend.exec.ptx import classes
from lockstep.frontend.exec.ptx.graph import Block, entry_of
from lockstep.frontend.exec.ptx.opcodes import read, written
from lockstep.frontend.exec.ptx.registers import Numbers, allocate
from lockstep.isa.instruction import MAX_DESTINATIONS, MAX_SOURCES, PREDICATES, blank
from lockstep.isa.ptx.syntax import Function, Instruction, Module

INSTRUCTION_BYTES = 16  # as machine code since Volta: what the instruction caches hold
SYSTEM_REGISTERS = 2  # that ptxas reserves in every kernel


class StaticCode:
    """Records of the functions of a kernel, one an instruction, at their static indices.

    ``registers`` is what a thread needs: the most that are live together, callees included.
    """

    def __init__(self, module: Module, functions: list[Function], blocks: list[Block]):
        self.module = module
        self.texts: list[str] = []
        self._text_numbers: dict[str, int] = {}
        self.records = blank(sum(len(f.instructions) for f in functions))
        self.records["pc"] = np.arange(len(self.records)) * INSTRUCTION_BYTES
        index = used = 0
        for function in functions:
            own = [b for b in blocks if b.function is function]
            numbers, used = allocate(module, function, own, used)
            for instruction in function.instructions:
                self._fill(self.records[index], instruction, numbers)
                index += 1
        limit = functions[0].directives.get("maxnreg", (255,))[0]
        self.registers = min(max(used + SYSTEM_REGISTERS, 16), limit)

    def _fill(self, record: np.void, i: Instruction, numbers: Numbers) -> None:
        kind = classes.class_of(i)
        record["text"] = self._text(i.name)
        record["op"], record["space"] = kind, classes.space_of(i, kind)
        record["width"], record["cache"] = classes.width_of(i, kind), classes.policy_of(i)
        record["immediate"] = classes.barrier_of(i)
        entry = entry_of(self.module, i)
        targets = _known(written(i, entry), numbers, MAX_DESTINATIONS)
        sources = _known(read(i, entry, partial=False), numbers, MAX_SOURCES)
        for field, ranges in (("destination", targets), ("source", sources)):
            record[field + "s"] = len(ranges)
            for k, (first, count) in enumerate(ranges):
                record[field][k], record[field + "_count"][k] = first, count

    def _text(self, text: str) -> int:
        if text not in self._text_numbers:
            self._text_numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._text_numbers[text]


def _known(names, numbers: Numbers, most: int) -> list[tuple[int, int]]:
    """Register ranges of names, neighbours joined, as many as a record holds."""
    ranges: list[tuple[int, int]] = []
    for first, count in sorted({numbers[n] for n in names if n in numbers}):
        if ranges and sum(ranges[-1]) == first and first != PREDICATES:
            ranges[-1] = (ranges[-1][0], ranges[-1][1] + count)
        else:
            ranges.append((first, count))
    return ranges[:most]

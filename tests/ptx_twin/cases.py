"""All cases, and how the twin runs them. ``python -m ptx_twin.cases`` lists what is covered."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

from lockstep.isa.ptx.parser import parse
from ptx_twin import (
    case_compare,
    case_conversion,
    case_floating,
    case_integer,
    case_memory,
    case_video,
    case_warp,
)
from ptx_twin.agreement import agrees
from ptx_twin.case import SLOT, Case
from ptx_twin.generator import SCRATCH, module_ptx, names, slots_of
from ptx_twin.interpreter import run
from ptx_twin.memory import Memory
from ptx_twin.values import rows_of

FAMILIES = (
    case_integer,
    case_floating,
    case_compare,
    case_conversion,
    case_memory,
    case_video,
    case_warp,
)
BUNDLE = 16  # cases of a kernel at most
GLOBAL_BASE = 0x10_0000_0000


@lru_cache
def all_cases():
    return tuple(case for family in FAMILIES for case in family.cases())


@dataclass(frozen=True)
class Bundle:
    """Cases of one opcode with the same operands, which make one kernel."""

    cases: tuple[Case, ...]
    number: int = 0

    @property
    def name(self):
        first = self.cases[0]
        return f"{first.opcode}({','.join(dict.fromkeys(first.operands))}){self.number or ''}"

    @cached_property
    def rows(self):
        return rows_of(self.cases[0])

    @cached_property
    def ptx(self):
        return module_ptx(self.cases)

    @property
    def result_bytes(self):
        return SLOT * slots_of(self.cases) * len(self.rows)

    def of_text(self, text):
        """The case with this text in the kernel; None if there is none."""
        texts = [case.text.format(**names(i, case)) for i, case in enumerate(self.cases)]
        return self.cases[texts.index(text)] if text in texts else None

    def without(self, case):
        return Bundle(tuple(c for c in self.cases if c is not case), self.number)


@lru_cache
def bundles():
    groups = {}
    for case in all_cases():
        groups.setdefault((case.opcode, case.operands, case.rows), []).append(case)
    return tuple(
        Bundle(tuple(group[i : i + BUNDLE]), i // BUNDLE)
        for group in groups.values()
        for i in range(0, len(group), BUNDLE)
    )


def operand_bytes(rows):
    """The operands of all threads as they lie in memory, eight bytes each."""
    return b"".join(value.to_bytes(SLOT, "little") for row in rows for value in row)


def results_of(bundle, content):
    """For each case rows of result patterns, from the bytes that a kernel wrote."""
    slots = [content[i : i + SLOT] for i in range(0, len(content), SLOT)]
    values = [int.from_bytes(slot, "little") for slot in slots]
    width, start, table = slots_of(bundle.cases), 0, []
    for case in bundle.cases:
        end = start + len(case.results)
        table.append([tuple(values[i + start : i + end]) for i in range(0, len(values), width)])
        start = end
    return table


def twin_results(bundle, module=None):
    """What the twin computes: for each case a row of result patterns a thread."""
    rows = bundle.rows
    memory = Memory(GLOBAL_BASE)
    source = memory.allocate(operand_bytes(rows))
    target = memory.allocate(bundle.result_bytes)
    work = memory.allocate(SCRATCH * len(rows))
    run(module or parse(bundle.ptx), "k", 1, len(rows), [source, target, work], memory)
    return results_of(bundle, memory.bytes_at(target, bundle.result_bytes))


def differences(bundle, got, expected):
    """A line for each case whose results are wrong: how many, and the first one."""
    for case, ours, theirs in zip(bundle.cases, got, expected):
        wrong = [
            (row, a, b)
            for row, a, b in zip(bundle.rows, ours, theirs)
            if not right(case, row, a, b)
        ]
        if wrong:
            operands, result, twin = ([f"{v:#x}" for v in part] for part in wrong[0])
            yield f"{case.name}: {len(wrong)} wrong; {operands} gave {result}, not {twin}"


def right(case, row, got, expected):
    return all(agrees(case, row, k, a, b) for k, a, b in zip(case.results, got, expected))


def main():
    table = {}
    for case in all_cases():
        table.setdefault(case.opcode, []).append(case.name)
    for opcode in sorted(table):
        print(f"{opcode:12} {len(table[opcode]):4}  {', '.join(table[opcode])}")
    print(f"{len(all_cases())} cases in {len(bundles())} kernels")


if __name__ == "__main__":
    main()

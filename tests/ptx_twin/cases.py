"""All cases, and how the twin runs one. ``python -m ptx_twin.cases`` lists what is covered."""

from functools import lru_cache

from lockstep.isa.ptx.parser import parse
from ptx_twin import (
    case_compare,
    case_conversion,
    case_floating,
    case_integer,
    case_memory,
    case_warp,
)
from ptx_twin.case import SLOT
from ptx_twin.generator import SCRATCH, single_instruction_ptx
from ptx_twin.interpreter import run
from ptx_twin.memory import Memory

FAMILIES = (
    case_integer,
    case_floating,
    case_compare,
    case_conversion,
    case_memory,
    case_warp,
)
GLOBAL_BASE = 0x10_0000_0000


@lru_cache
def all_cases():
    return tuple(case for family in FAMILIES for case in family.cases())


def by_opcode():
    """The cases of each opcode."""
    groups = {}
    for case in all_cases():
        groups.setdefault(case.opcode, []).append(case)
    return groups


def operand_bytes(rows):
    """The operands of all threads as they lie in memory, eight bytes each."""
    return b"".join(value.to_bytes(SLOT, "little") for row in rows for value in row)


def results_of(case, content):
    """Rows of result patterns from the bytes that a kernel wrote."""
    slots = [content[i : i + SLOT] for i in range(0, len(content), SLOT)]
    values = [int.from_bytes(slot, "little") for slot in slots]
    count = len(case.results)
    return [tuple(values[i : i + count]) for i in range(0, len(values), count)]


def twin_results(case, rows, module=None, entry="k0"):
    """What the twin computes for a case: a row of result patterns a thread."""
    module = module or parse(single_instruction_ptx(case))
    memory = Memory(GLOBAL_BASE)
    source = memory.allocate(operand_bytes(rows))
    target = memory.allocate(SLOT * len(case.results) * len(rows))
    work = memory.allocate(SCRATCH * len(rows))
    run(module, entry, 1, len(rows), [source, target, work], memory)
    return results_of(case, memory.bytes_at(target, SLOT * len(case.results) * len(rows)))


def main():
    for opcode, cases in sorted(by_opcode().items()):
        print(f"{opcode:12} {len(cases):5}  {', '.join(sorted({c.name for c in cases})[:6])} ...")
    print(len(all_cases()), "cases;", len({c.name for c in all_cases()}), "names")


if __name__ == "__main__":
    main()

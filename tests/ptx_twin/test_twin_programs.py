"""The twin on programs whose results are known."""

import numpy as np
import pytest

from lockstep.isa.ptx.parser import parse
from ptx_twin import stack_programs, wmma_programs
from ptx_twin.interpreter import run
from ptx_twin.memory import Fault, Memory
from ptx_twin.programs import PROGRAMS, kernel


def words_after(program):
    expected = program.expected()
    memory = Memory(1 << 36)
    out = memory.allocate(4 * len(expected))
    module = parse(program.ptx)
    run(module, "k", program.grid, program.block, [out], memory, program.shared_bytes)
    return np.frombuffer(memory.bytes_at(out, 4 * len(expected)), np.uint32).tolist()


@pytest.mark.long
@pytest.mark.parametrize(
    "program",
    (*PROGRAMS, *wmma_programs.PROGRAMS, *stack_programs.PROGRAMS),
    ids=lambda program: program.name,
)
def test_programs_give_the_known_words(program):
    assert words_after(program) == program.expected()


@pytest.mark.parametrize(
    "body, message",
    [
        ("trap;", "trap"),
        ("ld.global.b32 %a, [%out+4096];", "no allocation"),
        ("ld.global.b32 %a, [%out+1];", "misaligned"),
        ("setp.eq.u32 %p, %i, 0; @%p bar.sync 0, 64;", "every thread waits"),
        ("AGAIN: bra AGAIN;", "limit"),
        ("wonder.b32 %a, %b;", "unknown instruction"),
    ],
)
def test_bad_programs_end_with_a_fault(body, message):
    memory = Memory(1 << 36)
    out = memory.allocate(256)
    with pytest.raises(Fault, match=message):
        run(parse(kernel(body)), "k", 1, 64, [out], memory, limit=5000)

"""Blocks that are executed one by one: where they begin, and that nothing else changes."""

import numpy as np
import pytest

from lockstep.execution.programs.program import Recording
from lockstep.execution.ptx.statics import StaticCode
from lockstep.execution.ptx.steps import steps_of
from lockstep.execution.ptx.translate import Translation
from lockstep.isa.ptx.parser import parse
from lockstep.kernels import load, names
from lockstep.workload.at_issue import STEP_RUNS

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"


def module_of(body):
    registers = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;"
    return parse(f"{HEAD}.entry k(.param .u64 x)\n{{ {registers}\n{body}\nret;\n}}\n", "<test>")


def test_accesses_and_clocks_begin_blocks():
    body = """
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    ld.global.u32 %r2, [%rd1];
    add.u32 %r2, %r2, %r1;
    mov.u64 %rd2, %clock64;
    mov.u32 %r3, %globaltimer_lo;
    @%p1 st.global.u32 [%rd1], %r2;
    atom.global.add.u32 %r4, [%rd1], 1;
    bar.sync 0;
    """
    module = module_of(body)
    assert steps_of(module.functions["k"]) == {2, 4, 5, 6, 7}
    program = Translation(module, "k", Recording.AT_ISSUE).program()
    assert program.blocks["first"].tolist() == [0, 2, 4, 5, 6, 7, 9]
    guards = program.blocks["guard_slot"] >= 0
    assert guards.tolist() == [False, False, False, False, True, False, False]
    assert not program.blocks["guard_negated"].any()


def test_a_negated_guard_is_told():
    program = Translation(
        module_of("ld.param.u64 %rd1, [x];\n@!%p1 st.global.u32 [%rd1], %r2;"),
        "k",
        Recording.AT_ISSUE,
    ).program()
    assert program.blocks["guard_negated"].tolist() == [0, 1]


def test_guarded_instructions_do_not_fill_a_block_with_runs():
    body = "\n".join("@%p1 add.u32 %r1, %r1, 1;" for _ in range(200))
    program = Translation(module_of(body), "k", Recording.AT_ISSUE).program()
    most = max(1 + 2 * sum(item.guarded for item in items) for items in program.items)
    assert STEP_RUNS // 2 < most <= STEP_RUNS


@pytest.mark.long
@pytest.mark.parametrize("name", names())
def test_the_model_sees_the_same_instructions(name):
    module = parse(load(name).ptx.read_text(), name)
    for entry in module.entries:
        variants = (Recording.EVERYTHING, Recording.AT_ISSUE)
        translations = [Translation(module, entry, variant) for variant in variants]
        ahead, steps = (
            StaticCode(t.module, t.functions, t.blocks, t.layout.parameters) for t in translations
        )
        np.testing.assert_array_equal(ahead.records, steps.records)
        assert ahead.registers == steps.registers

"""What the loader takes is what NVIDIA's assembler takes (ptxas 13.0), in 73,000 spellings."""

import functools
import random
import re
import shutil

import pytest

import lockstep
from lockstep.execution.ptx import instructions  # noqa: F401  (fills the table)
from lockstep.execution.ptx.opcodes import find
from lockstep.execution.ptx.refusals import REFUSED, refusal
from lockstep.execution.ptx.spelling import spelling
from ptx_legality import assembler, forms

ASSEMBLER = shutil.which("ptxas")
ONLY_PTXAS = {
    "{addc,subc,madc}*.{u16,s16}": "the manual has carries of 32 and 64 bits",
    "{addc,subc,madc.hi}.sat.s32": "nor are they saturated",
    "mad.hi.sat.sat.s32": "twice the same modifier",
    "fma.{rz,rm,rp}*.{bf16,bf16x2}": "the manual rounds to nearest; ptxas makes code for f16",
    "mma.sync.aligned.m16n8k64.row.col.s32.*.popc": "the manual counts single bits only",
    "fma.rn.sat.oob.*": "the manual has no .sat beside .oob",
}
"""What ptxas takes, and the PTX ISA does not have."""
NARROW = ("cvt.*.{u8,s8}.bf16", "cvt.*.bf16.{u8,s8}")
"""Legal with registers of 8 bits, which no spelling here has."""
SAMPLE = 1500


@pytest.fixture(scope="module")
def verdicts():
    return assembler.verdicts()


def only_ptxas(name):
    return _is_one_of(name, ONLY_PTXAS)


def _is_one_of(name, patterns):
    return any(re.fullmatch(_expression(p), name) for p in patterns)


@functools.cache
def _expression(pattern):
    escaped = re.escape(pattern).replace(r"\*", ".*")
    return re.sub(r"\\\{(.*?)\\\}", lambda m: f"(?:{m[1].replace(',', '|')})", escaped)


@pytest.mark.long
def test_no_illegal_instruction_is_taken(verdicts):
    taken = [name for name, legal in verdicts.items() if not legal and spelling(name)]
    assert len(taken) == 16
    assert all(_is_one_of(name, NARROW) for name in taken)


def test_legal_instructions_are_taken_or_listed(verdicts):
    left = [name for name, legal in verdicts.items() if legal and not spelling(name)]
    unknown = [n for n in left if "is not supported" not in refusal(n) and not only_ptxas(n)]
    assert not unknown


def test_every_opcode_with_types_is_among_the_forms(verdicts):
    legal = {name.partition(".")[0] for name, is_legal in verdicts.items() if is_legal}
    assert len(legal) > 100
    assert sum(verdicts.values()) > 7400


@pytest.mark.long
@pytest.mark.skipif(not ASSEMBLER, reason="needs ptxas")
def test_the_verdicts_are_the_assemblers(verdicts):
    names = random.Random(5).sample(sorted(verdicts), SAMPLE)
    operands = {n: own for form, own in forms.lines() for n in forms.spelled(form)}
    asked = {n: [forms.instruction(n, o) for o in operands[n]] for n in names}
    legal = assembler.legal(asked)
    wrong = [n for n in names if verdicts[n] != (n in legal)]
    assert not wrong


@pytest.mark.parametrize(
    "name, meant",
    [
        ("atom.add.release.gpu.u32", "atom.release.gpu.add.u32"),
        ("atom.global.cta.add.u32", "atom.cta.global.add.u32"),
        ("red.add.gpu.relaxed.u32", "red.relaxed.gpu.add.u32"),
        ("ld.global.volatile.u32", "ld.volatile.global.u32"),
        ("ld.global.L1::evict_first.relaxed.gpu.u32", "ld.relaxed.gpu.global.L1::evict_first.u32"),
        ("ld.v4.L2::128B.f32", "ld.L2::128B.v4.f32"),
        ("setp.f32.eq.and", "setp.eq.and.f32"),
        ("cvt.f32.rn.s32", "cvt.rn.f32.s32"),
        ("set.eq.u32.and.f16", "set.eq.and.u32.f16"),
        ("prmt.f4e.b32", "prmt.b32.f4e"),
        ("mma.row.col.sync.aligned.m16n8k8.f32.f16.f16.f32",
         "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"),
        ("mbarrier.arrive.cta.release.shared.b64", "mbarrier.arrive.release.cta.shared.b64"),
        ("mul.u32.lo", None),  # .lo is a part of the name
        ("cvta.global.to.u64", None),
        ("mma.sync.aligned.m16n8k8.col.row.f32.f16.f16.f32", None),
        ("add.rn.rz.f32", None),
    ],
)  # fmt: skip
def test_modifiers_may_come_in_another_order(name, meant):
    assert spelling(name) == meant


KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {{
.reg .b64 %d<4>; .reg .b32 %r<4>;
ld.param.u64 %d1, [p];
{line}
ret;
}}
"""


def test_a_reordered_instruction_does_the_same():
    import numpy as np

    device = lockstep.Device("QV100", timing=False)
    kernel = device.load_ptx(KERNEL.format(line="atom.add.u32.relaxed.gpu.global %r1, [%d1], 2;"))
    counter = device.array(np.zeros(1, np.uint32))
    kernel["k"][2, 32](counter)
    assert counter.numpy()[0] == 128


@pytest.mark.parametrize(
    "line, message",
    [
        ("add.sat.u32 %r1, %r2, %r3;", "the PTX ISA has no instruction add.sat.u32"),
        ("sin.approx.f64 %d1, %d2;", "the PTX ISA has no instruction sin.approx.f64"),
        (
            "multimem.ld_reduce.relaxed.gpu.global.add.u32 %r1, [%d1];",
            "is not supported: an address is that of one GPU's memory",
        ),
    ],
)
def test_refusals_say_why(line, message):
    device = lockstep.Device("QV100", timing=False)
    with pytest.raises(lockstep.InputError, match=re.escape(message)) as caught:
        device.load_ptx(KERNEL.format(line=line))
    assert "line 7, column 1" in str(caught.value)


def test_every_listed_refusal_refuses_something(verdicts):
    """No entry is left over when an instruction has come."""
    for pattern in REFUSED:
        names = [n for n in verdicts if re.fullmatch(_expression(pattern), n)]
        assert not [n for n in names if verdicts[n] and find(n)], pattern

"""Instructions with operands that they cannot have are one clear error."""

import pytest

from lockstep.errors import InputError
from lockstep.execution.programs.program import Recording
from lockstep.execution.ptx import arity
from lockstep.execution.ptx.spelling import spelling
from lockstep.execution.ptx.translate import Translation
from lockstep.isa.ptx.parser import parse
from lockstep.isa.ptx.syntax import Instruction, Position
from ptx_legality import assembler, forms

KERNEL = assembler.KERNEL.format(target="sm_90a", version="8.8")


@pytest.mark.parametrize(
    "text, message",
    [
        ("add.rz.f32 %r1, %r2;", "add.rz.f32 takes 3 operands, not 2"),
        ("div.rz.f64 %d1, %d2;", "takes 3 operands, not 2"),
        ("fma.rn.f32 %r1, %r2, %r3;", "takes 4 operands, not 3"),
        ("mov.b32 %r1, %r2, %r3;", "takes 2 operands, not 3"),
        ("setp.eq.and.u32 %p1, %r2, %r3;", "takes 4 operands, not 3"),
        ("vadd.u32.u32.u32 %r1, %r2;", "takes 3 or 4 operands, not 2"),
        ("bar.sync;", "takes 1 or 2 operands, not 0"),
        ("mbarrier.init.shared.b64 [%d1];", "takes 2 operands, not 1"),
        ("cp.async.ca.shared.global [%d1], [%d2];", "takes 3 or 4 operands, not 2"),
        ("atom.global.cas.b32 %r1, [%d1], %r2;", "takes 4 operands, not 3"),
        ("ld.global.L2::cache_hint.u32 %r1, [%d1];", "takes 3 operands, not 2"),
        ("ld.global.b32 {%r1,%r2}, [%d1];", "takes a single register, not 2"),
        ("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1}, [%r2];", "vector of 2 elements, not 1"),
        ("selp.b32 %r1, %r2, %r3, %r4;", "takes predicates only where it reads one"),
        ("add.u32 %r1, %r2, %p1;", "takes predicates only where it reads one"),
        ("lop3.b32 %r1, %r2, %r3, %r4, %r5;", "needs a number from 0 to 255 as its table"),
        ("redux.sync.add.u32 %r1, %r2, p0;", "needs a register or number of its members"),
        (
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
            "{%r1,%r2,%r3,%r4}, {%r5}, {%r6}, {%r1,%r2,%r3,%r4};",
            "has 2 registers of this matrix, not 1",
        ),
        (
            "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%r1,%r2,%r3,%r4}, {%r5,%r6}, {%r7,%r8}, {%r1,%r2,%r3,%r4}, %r9, 4;",
            "selects no such lanes for its metadata",
        ),
    ],
)
def test_wrong_operands_are_refused(text, message):
    module = parse(f"{KERNEL}{text}\nret;\n}}\n")
    with pytest.raises(InputError, match=message):
        Translation(module, "k", Recording.NOTHING).program()


def test_legal_instructions_have_a_count_that_is_taken():
    legal = {name for name, taken in assembler.verdicts().items() if taken}
    for form, operands in forms.lines():
        for name in (spelling(n) for n in forms.spelled(form) if n in legal):
            if name is not None:
                base, *words = name.split(".")
                counts = arity.counts_of(Instruction(base, tuple(words), (), Position(1, 1)))
                assert not counts or set(counts) & {len(o.split()) for o in operands}, name

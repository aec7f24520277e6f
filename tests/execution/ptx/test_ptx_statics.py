"""Static records of PTX: what only the whole function tells."""

from lockstep.execution.programs.program import Recording
from lockstep.execution.ptx.translate import Translation
from lockstep.isa.instruction import OpClass
from lockstep.isa.ptx.parser import parse

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
PARAMETERS = """
.func (.param .b32 out) f(.param .b32 in)
{ .reg .b32 %r<3>; ld.param.u32 %r1, [in]; st.param.b32 [out], %r1; ret; }
.entry k(.param .u32 n, .param .u64 in, .param .align 16 .b8 s[32])
{ .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u32 %r1, [n];
  ld.param.u64 %rd1, [in];
  ld.param.v2.u32 {%r2, %r3}, [s+8];
  mov.b64 %rd2, s;
  ld.param.u32 %r4, [%rd2];
  { .param .b32 n; .param .b32 o; st.param.b32 [n], %r1;
    call (o), f, (n); ld.param.b32 %r5, [o]; }
  ret;
}
"""


def test_parameters_of_the_kernel_are_operands_in_bank_0():
    program = Translation(parse(HEAD + PARAMETERS, "<test>"), "k", Recording.EVERYTHING).program()
    code = program.code
    moves = code["constant"][code["op"] == OpClass.MOVE].tolist()
    assert [place for place in moves if place >= 0] == [0x160, 0x168, 0x178]
    assert (code["constant"][code["op"] != OpClass.MOVE] == -1).all()

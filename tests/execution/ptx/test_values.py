"""Which virtual registers of a PTX function cost one of the machine."""

from lockstep.execution.ptx.values import Values
from lockstep.isa.ptx.parser import parse

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n.entry k(.param .u64 x, .param .u32 n)\n"
DECLARED = ".reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<4>; .reg .b16 %h;"


def values(body):
    module = parse(f"{HEAD}{{ {DECLARED}\n{body}\nret;\n}}", "<test>")
    return Values(module, module.functions["k"])


def test_registers_count_in_words():
    words = values("").words
    assert [words[n] for n in ("%r1", "%rd1", "%f1", "%h", "%p1")] == [1, 2, 1, 1, 0]


def test_parameters_and_what_is_made_of_them_cost_nothing():
    v = values(
        "ld.param.u64 %rd1, [x]; cvta.to.global.u64 %rd2, %rd1; ld.param.u32 %r1, [n];"
        "mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r1, %r2, 5; mov.u32 %r4, %tid.x;"
        "add.u32 %r5, %r3, %r4; st.global.u32 [%rd2], %r5;"
    )
    assert set().union(*v.writes) == {"%r4", "%r5"}
    assert v.reads[-2] == {"%r5"}


def test_floats_are_not_computed_for_all_threads_at_once():
    v = values("mov.f32 %f1, 0f3F800000; add.f32 %f2, %f1, %f1;")
    assert set().union(*v.writes) == {"%f2"}


def test_copies_and_offsets_are_what_they_are_made_from():
    v = values(
        "ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;"
        "cvta.to.global.u64 %rd3, %rd2; add.s64 %rd4, %rd3, 64; mov.u32 %r2, %r1;"
        "st.global.u32 [%rd4], %r2;"
    )
    assert v.reads[-2] == {"%rd2", "%r1"}
    both = values(
        "mov.u32 %r1, %tid.x; cvt.u64.u32 %rd1, %r1; shl.b64 %rd3, %rd1, 4; add.s64 %rd4, %rd3, 64;"
        "st.global.u64 [%rd4], %rd4;"
    )
    assert both.reads[2] == {"%r1"}, "zeros above it cost nothing"
    assert both.reads[-2] == {"%rd4"}, "stored, it is a number of its own"


def test_what_is_written_twice_is_no_copy():
    v = values(
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %r1; add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;"
    )
    assert v.writes[1] == v.writes[2] == {"%r2"}
    guarded = values("mov.u32 %r1, %tid.x; @%p1 mov.u32 %r2, %r1; st.global.u32 [%rd1], %r2;")
    assert "%r2" in guarded.writes[1]

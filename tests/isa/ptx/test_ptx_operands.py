"""Operands of instructions and calls."""

import pytest

from lockstep.isa.ptx import parse
from lockstep.isa.ptx.names import SPECIAL_REGISTERS
from lockstep.isa.ptx.syntax import (
    Call,
    Immediate,
    Memory,
    Negated,
    Pair,
    Part,
    Register,
    Sink,
    Symbol,
    Vector,
)

HEAD = """.version 8.7 .target sm_90 .address_size 64
.global .u32 g; .global .u64 table[4]; .func f;
.func (.param .b32 r) h(.param .b32 a, .param .b32 b);
.visible .entry k(.param .u64 p) {
.reg .pred %p, %q; .reg .b32 %r, %s; .reg .b64 %d; .reg .v4 .f32 %v; .reg .v2 .b32 %w;
.param .b32 a, b, c;
"""


def instruction(text):
    return parse(f"{HEAD} {text} L: ret; }}").functions["k"].instructions[0]


def operand(text):
    return instruction(f"op %r, {text};").operands[1]


R, S, D, P, Q = (Register(name) for name in ("%r", "%s", "%d", "%p", "%q"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%r", R), ("_", Sink()), ("g", Symbol("g")), ("g+4", Symbol("g", 4)),
        ("g + 8 - 4", Symbol("g", 4)), ("L", Symbol("L")), ("f", Symbol("f")), ("p", Symbol("p")),
        ("5", Immediate(5)), ("-5", Immediate(-5)), ("2 * (3 + 1)", Immediate(8)),
        ("WARP_SZ", Immediate(32)), ("WARP_SZ - 1", Immediate(31)), ("!0", Immediate(1)),
        ("0f3F800000", Immediate(0x3F800000, 32)), ("%p|%q", Pair(P, Q)),
        ("_|%q", Pair(Sink(), Q)), ("%r|%p", Pair(R, P)), ("!%p", Negated(P)),
        ("{%r, %s}|%p", Pair(Vector((R, S)), P)),
        ("%v.x", Register("%v", 0)), ("%v.w", Register("%v", 3)), ("%v.g", Register("%v", 1)),
        ("%v.b", Register("%v", 2)), ("%w.y", Register("%w", 1)), ("%v", Register("%v")),
        ("%tid.x", Register("%tid.x")), ("%tid", Register("%tid")),
        ("%r.b0", Part(R, "b0")), ("%r.h1", Part(R, "h1")), ("%r.b3210", Part(R, "b3210")),
        ("-%r", Part(R, "", True)), ("-%r.b2", Part(R, "b2", True)),
        ("{%r, %s}", Vector((R, S))), ("{%r, _, 3}", Vector((R, Sink(), Immediate(3)))),
        ("{%r}", Vector((R,))), 
        ("{{%r, 1}, {%s}}", Vector((Vector((R, Immediate(1))), Vector((S,))))),
        ("[%r]", Memory(R)), ("[%r+8]", Memory(R, 8)), ("[ %r + 0 ]", Memory(R, 0)),
        ("[%r-8]", Memory(R, -8)), ("[%r+-8]", Memory(R, -8)), ("[g]", Memory(Symbol("g"))),
        ("[g+0x10]", Memory(Symbol("g"), 16)), ("[g+4*2]", Memory(Symbol("g"), 8)),
        ("[16]", Memory(Immediate(16))), ("[-16]", Memory(Immediate(-16))),
        ("[p+0]", Memory(Symbol("p"))), ("table[3]", Memory(Symbol("table"), 24)),
        ("[%d, {%r, %s}]", Memory(D, 0, (Vector((R, S)),))),
        ("[g, %d, {%r}]", Memory(Symbol("g"), 0, (D, Vector((R,))))),
        ("[%d, {%r, 1, 2}]", Memory(D, 0, (Vector((R, Immediate(1), Immediate(2))),))),
    ],
)  # fmt: skip
def test_operands(text, expected):
    assert operand(text) == expected


def test_elements_are_addresses_where_the_opcode_takes_those():
    assert instruction("mov.u64 %d, table[3];").operands == (D, Symbol("table", 24))
    assert instruction("cvta.global.u64 %d, table[1];").operands[1] == Symbol("table", 8)
    assert instruction("st.global.u64 table[1], %d;").operands[0] == Memory(Symbol("table"), 8)


def test_special_registers_need_no_declaration():
    assert {"%ctaid.z", "%clock64", "%envreg31", "%pm7_64", "%lanemask_lt"} <= SPECIAL_REGISTERS
    for name in SPECIAL_REGISTERS:
        assert operand(name) == Register(name)


def test_several_memory_operands():
    text = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
    found = instruction(f"{text} [%r], [%d, {{%r, %s}}], [%s+8];")
    assert found.operands == (Memory(R), Memory(D, 0, (Vector((R, S)),)), Memory(S, 8))
    assert found.modifiers[-1] == "mbarrier::complete_tx::bytes"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("call f;", Call((), Symbol("f"), ())),
        ("call.uni f, ();", Call((), Symbol("f"), ())),
        ("call (), f, ();", Call((), Symbol("f"), ())),
        ("call.uni (c), h, (a, b);", Call((Symbol("c"),), Symbol("h"), (Symbol("a"), Symbol("b")))),
        ("call (%r), h, (%s, 5);", Call((R,), Symbol("h"), (S, Immediate(5)))),
        ("call (_), h, (a, b);", Call((Sink(),), Symbol("h"), (Symbol("a"), Symbol("b")))),
        ("call (c), %d, (a), t;", Call((Symbol("c"),), D, (Symbol("a"),), "t")),
        ("call %d, (a), t;", Call((), D, (Symbol("a"),), "t")),
        ("call %d, t;", Call((), D, (), "t")),
    ],
)
def test_calls(text, expected):
    found = instruction(f"{text} t: .calltargets f, h;")
    assert found.operands == (expected,)
    assert found.opcode == "call"


def test_tensor_core_operands():
    text = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    found = instruction(f"{text} {{%r,%s}}, {{%r}}, {{%s}}, {{%r,%s}};")
    assert [len(v.elements) for v in found.operands] == [2, 1, 1, 2]
    assert found.modifiers[2] == "m16n8k16"

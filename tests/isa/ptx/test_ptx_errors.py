"""What is wrong with a module is said in one line, with its exact place."""

import pytest

from lockstep.errors import InputError
from lockstep.isa.ptx import parse
from lockstep.isa.ptx.expressions import DEEPEST

HEAD = ".version 8.7\n.target sm_90\n.address_size 64\n"
KERNEL = (
    HEAD
    + """.global .u32 g; .func f; .func (.param .b32 r) h(.param .b32 a);
.entry k(.param .u64 a) {
.reg .pred %p; .reg .b32 %r<4>; .reg .v4 .f32 %v; .reg .v2 .f32 %w;
"""
)
NEW = "a name that is new in this scope"


def error(text):
    with pytest.raises(InputError) as caught:
        parse(text, "a.ptx")
    assert caught.value.path == "a.ptx"
    assert "\n" not in str(caught.value)
    return caught.value.where, caught.value.message


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "expected '.version' at the start of a module, found the end of the text"),
        (".target sm_90", 1, 1, "expected '.version' at the start of a module, found '.target'"),
        (".version 8", 1, 10, "expected a version, as 8.7, found '8'"),
        (".version 8.7\n", 2, 1, "expected '.target' after the version, found the end of the text"),
        (".version 8.7 .target foo", 1, 22, "expected a target, as sm_80, found 'foo'"),
        (HEAD[:-3] + "48", 3, 15, "expected an address size of 32 or 64, found '48'"),
    ],
)
def test_the_start(text, line, column, message):
    assert error(text) == (f"line {line}, column {column}", message)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("add", 1, "expected a directive, as '.entry' or '.global', found 'add'"),
        (".entr k", 1, "expected a directive of a module, as '.entry' or '.global', found '.entr'"),
        (".reg .b32 a;", 1, "expected '.reg' inside a function"),
        (".param .b32 a;", 1, "expected '.param' inside a function"),
        (".global x;", 9, "expected a type, found 'x'"),
        (".global .q32 x;", 9, "expected a type, found '.q32'"),
        (".global .u32 .f32 x;", 14, "expected a name, found '.f32'"),
        (".global .u32 3;", 14, "expected a name, found '3'"),
        (".global .u32 a.b;", 14, "expected a name, found 'a.b'"),
        (
            ".global .u32 x\n",
            None,
            "expected ',' or ';' in a declaration, found the end of the text",
        ),
        (".global .u32 x y;", 16, "expected ',' or ';' in a declaration, found 'y'"),
        (".global .align 3 .b8 x;", 16, "expected a power of two as alignment, found 3"),
        (".global .v4 .f64 x;", 13, "expected a vector of at most 16 bytes"),
        (".global .v3 .f32 x;", 9, "expected a type, found '.v3'"),
        (".global .pred x;", 9, "expected '.reg' for predicates"),
        (".sreg .u32 x;", 1, "expected no '.sreg': special registers need no declaration"),
        (".global .u32 x[-1];", 16, f"expected a number of elements from 0 to {1 << 62}, found -1"),
        (".global .u32 x[2;", 17, "expected ']' after a number of elements, found ';'"),
        (".global .u32 x[];", 15, "expected '.extern', an initialiser or a number of elements"),
        (".global .u32 x[2] = {1, 2, 3};", 21, "expected at most 2 values, found 3"),
        (
            ".global .u32 x[2] = 1;",
            21,
            "expected '{' before the values of an array or vector, found '1'",
        ),
        (".global .u32 x = {1};", 18, "expected an operand, found '{'"),
        (".global .u32 x = 1.5;", 18, "expected an integer for type u32, found '1.5'"),
        (".global .f32 x = 1;", 18, "expected a floating-point number for type f32, found '1'"),
        (
            ".global .u64 x = y;",
            18,
            "expected a number or a declared variable or function, found 'y'",
        ),
        (
            ".global .u8 x[] = {0xF0(x)};",
            20,
            "expected 0xFF, 0xFF00 or another byte's mask, found '0xF0'",
        ),
        (".global .u32 x[1 << 40] = {1};", 27, f"expected at most {1 << 22} initialised elements"),
        (".shared .u32 x = 1;", 16, "expected '.const' or '.global' for an initialised variable"),
        (".global .u32 x; .global .u32 x;", 30, "expected a new name, found 'x' again"),
        (".global .u32 x; .func x { ret; }", 23, "expected a new name, found 'x' again"),
        (".func x { ret; } .global .u32 x;", 31, "expected a new name, found 'x' again"),
        (".func x { ret; } .func x { ret; }", 24, "expected a new name, found 'x' again"),
        (
            ".func x; .func x(.param .b8 a) {}",
            16,
            "expected 'x' with the parameters declared in line 4",
        ),
        (".extern .global .u32 x; .global .f32 x;", 38, "expected a new name, found 'x' again"),
        (".entry k(.param .b8 a, .param .b8 a) {}", 35, f"expected {NEW}, found 'a'"),
        (".entry k(.reg .b8 a) {}", 10, "expected '.param' for the parameters of a kernel"),
        (".entry k(.global .b8 a) {}", 10, "expected '.param' or '.reg', found '.global'"),
        (".entry k(.param .b8 a {}", 23, "expected ')' after parameters, found '{'"),
        (".entry k .foo {}", 10, "expected a directive of a function, '{' or ';', found '.foo'"),
        (".entry k .maxnreg {}", 19, "expected an operand, found '{'"),
        (".entry k .maxnreg -1 {}", 19, "expected a number from 0 to 4294967295, found -1"),
        (".entry k ret;", 10, "expected ';' or '{' after the head of a function, found 'ret'"),
        (".entry {}", 8, "expected the name of a function, found '{'"),
        (".alias g, f;", 8, "expected a declared function, found 'g'"),
        (".pragma nounroll;", 9, "expected a pragma in \"\", found 'nounroll'"),
        (".section .debug_str { .b8 1", 21, "this section is not terminated"),
        (".section { }", 10, "expected the name of a section, found '{'"),
        (".file 1 a", 9, "expected the path of a file in \"\", found 'a'"),
    ],
)
def test_modules(text, column, message):
    where = f"line 4, column {column}" if column else "line 5, column 1"
    assert error(HEAD + text) == (where, message)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("add.s32 %r1, %r2", 18, "expected ',' or ';' after an operand, found '}'"),
        ("add.s32 %r1 %r2;", 13, "expected ',' or ';' after an operand, found '%r2'"),
        ("add.s32 %r1, ;", 14, "expected an operand, found ';'"),
        ("mov.u32 %r9, 0;", 9, "expected a declared register, found '%r9'"),
        (
            "mov.u32 %r1, x;",
            14,
            "expected a declared register, variable, function or label, found 'x'",
        ),
        ("bra L;", 5, "expected a declared register, variable, function or label, found 'L'"),
        (
            "bra L; { L: }",
            5,
            "expected a declared register, variable, function or label, found 'L'",
        ),
        ("L: L: ret;", 4, "expected a label that is new in this scope, found 'L'"),
        (".reg .b32 a;", 11, f"expected {NEW}, found 'a'"),
        (".reg .b32 %r3;", 11, f"expected {NEW}, found '%r3'"),
        (".reg .b32 L; L: ret;", 11, f"expected {NEW}, found 'L'"),
        (".reg .b32 c[3];", 12, "expected no array: registers are no memory"),
        (".reg .v2 .pred c;", 10, "expected no vector of predicates"),
        (".reg .b32 c<x>;", 13, "expected a number of registers up to 262144, found 'x'"),
        (".reg .b32 c<999999>;", 13, "expected a number of registers up to 262144, found '999999'"),
        (".foo;", 1, "expected a directive of a function, as '.reg', found '.foo'"),
        (".branchtargets L;", 1, "expected a label before '.branchtargets'"),
        ("t: .branchtargets 5;", 19, "expected an operand, found '5'"),
        ("t: .calltargets %r1;", 17, "expected a label or function, found '%r1'"),
        ("p: .callprototype (.param .b32 _) 5;", 35, "expected '_' or a name, found '5'"),
        ("@%r1 ret;", 2, "expected a predicate register after '@', found '%r1'"),
        ("@%q ret;", 2, "expected a declared register, found '%q'"),
        ("@%p { ret; }", 5, "expected an instruction, found '{'"),
        ("5;", 1, "expected an instruction, directive, label, '{' or '}', found '5'"),
        (";", 1, "expected an instruction, directive, label, '{' or '}', found ';'"),
        ("ld.v4.f32 {%r1, %r2}, [%r3];", 11, "expected a vector of 4 elements, found one of 2"),
        ("ld.v4.f32 %w, [%r3];", 11, "expected a vector of 4 elements, found one of 2"),
        (
            "tex.v4.f32 {%r1, %r2}|%p, [g, %r3];",
            12,
            "expected a vector of 4 elements, found one of 2",
        ),
        (
            "mov.f32 %r1, %w.z;",
            14,
            "expected '.x' to '.w' within the register of 2 elements, found '%w.z'",
        ),
        ("mov.f32 %r1, %r2.x;", 14, "expected '.b0' to '.h1' within the register, found '%r2.x'"),
        ("mov.f32 %r1, %tid.q;", 14, "expected a register before '.', found '%tid.q'"),
        ("mov.f32 %r1, {%r1, };", 20, "expected an operand, found '}'"),
        ("mov.f32 {%r1;", 13, "expected ',' or '}' in a vector, found ';'"),
        ("ld.u32 %r1, [%r2;", 17, "expected ',' or ']' in an address, found ';'"),
        ("ld.u32 %r1, [%r2+%r3];", 18, "expected an operand, found '%r3'"),
        (
            "ld.u32 %r1, [%r2+1.5];",
            17,
            "expected an offset in bytes, found a floating-point number",
        ),
        ("ld.u32 %r1, g[0];", 13, "expected an array before '[', found 'g'"),
        ("mov.u32 %r1, %r2|5;", 18, "expected an operand, found '5'"),
        ("mov.u32 %r1, %r2|a;", 18, "expected a register after '|', found 'a'"),
        (
            ".shared .b32 t[4]; ld.shared.b32 %r1, t[%r2];",
            41,
            "expected a constant index, found '%r2'",
        ),
        ("call %p;;", 9, "expected an instruction, directive, label, '{' or '}', found ';'"),
        ("call 5;", 6, "expected an operand, found '5'"),
        ("call (%r1) h, (5);", 12, "expected ',' after the results of a call, found 'h'"),
        ("call h, (5;", 11, "expected ',' or ')' in a list of operands, found ';'"),
        ("call h, (5)", 13, "expected ';' after a call, found '}'"),
        (".loc 1 2;", 9, "expected an operand, found ';'"),
        (".loc 1 2 3, foo 1;", 13, "expected 'function_name' or 'inlined_at', found 'foo'"),
        (".loc 1 2 3, function_name L;", 27, "expected a label of section .debug_str, found 'L'"),
        (
            "mov.u32 %r1, " + "{" * 100,
            14 + DEEPEST + 1,
            f"expected at most {DEEPEST} nested brackets",
        ),
    ],
)
def test_bodies(text, column, message):
    where, found = error(f"{KERNEL}{text} }}")
    assert where == f"line 7, column {column}"
    assert message == found


def test_an_unclosed_body_is_shown_where_it_opens():
    message = "expected '}' before the end of the text, to match this '{'"
    assert error(HEAD + ".entry k { ret; { ret; }") == ("line 4, column 10", message)


def test_a_missing_semicolon_is_found_at_the_next_token():
    text = KERNEL + "mov.u32 %r1, 1\n\tret;\n}"
    assert error(text) == ("line 8, column 2", "expected ',' or ';' after an operand, found 'ret'")


def test_long_tokens_are_cut():
    where, message = error(HEAD + "x" * 1000)
    assert where == "line 4, column 1"
    assert len(message) < 120

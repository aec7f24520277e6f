"""Variables, registers and initialisers."""

import pytest

from lockstep.isa.ptx import parse
from lockstep.isa.ptx.declarations import TYPES
from lockstep.isa.ptx.syntax import Immediate, Symbol, type_bytes

HEAD = ".version 8.7 .target sm_90 .address_size 64 "


def variable(text, name="x"):
    return parse(HEAD + text).variables[name]


def numbers(text):
    return [v.value for v in variable(text).initial]


def registers(text):
    return parse(HEAD + f".entry k {{ {text} }}").functions["k"].registers


@pytest.mark.parametrize("type", sorted(TYPES))
def test_types(type):
    x = registers(f".reg .{type} x;")["x"]
    assert (x.space, x.type, x.bytes) == ("reg", type, type_bytes(type))


@pytest.mark.parametrize("space", ["const", "global", "shared", "local"])
def test_spaces(space):
    assert variable(f".{space} .f32 x;").space == space
    assert (
        parse(HEAD + f".entry k {{ .{space} .f32 y; }}").functions["k"].variables[0].space == space
    )


def test_subspaces_and_old_spaces():
    assert variable(".shared::cta .b8 x;").space == "shared"
    assert variable(".const[3] .b8 x;").attributes == ("bank", "3")
    assert (variable(".tex .u32 x;").space, variable(".tex .u32 x;").type) == ("global", "texref")


def test_linkage_alignment_vectors_and_extents():
    x = variable(".visible .global .align 16 .v4 .f32 x[3][5];")
    assert (x.linkage, x.alignment, x.vector, x.shape) == ("visible", 16, 4, (3, 5))
    assert (x.element_bytes, x.bytes) == (16, 240)
    assert (x.position.line, x.position.column) == (
        1,
        len(HEAD) + len(".visible .global .align 16 .v4 .f32 ") + 1,
    )
    assert variable(".common .global .b8 x;").linkage == "common"


def test_one_declaration_declares_several():
    variables = parse(HEAD + ".global .align 8 .u32 a, b = 4, c[2];").variables
    assert [v.alignment for v in variables.values()] == [8, 8, 8]
    assert variables["b"].initial == (Immediate(4),)
    assert variables["c"].shape == (2,)


def test_ranges():
    found = registers(".reg .v2 .b32 %v<3>, q; .reg .pred %p<2>;")
    assert list(found) == ["%v0", "%v1", "%v2", "q", "%p0", "%p1"]
    assert (found["%v2"].vector, found["%p1"].type) == (2, "pred")
    assert list(parse(HEAD + ".global .u32 c<2>;").variables) == ["c0", "c1"]


def test_open_extents():
    x = variable(".extern .shared .align 16 .b8 x[];")
    assert (x.shape, x.bytes) == ((0,), 0)
    assert variable(".global .u32 x[] = {1, 2, 3};").shape == (3,)
    assert variable(".global .u32 x[][2] = {{1}, {2, 3}};").shape == (2, 2)


def test_attributes():
    assert variable(".global .attribute(.managed) .b32 x;").attributes == ("managed",)
    text = ".global .attribute(.managed, .unified(1, 2)) .b32 x;"
    assert variable(text).attributes == ("managed", "unified", "1", "2")


def test_rows_are_filled_up():
    assert numbers(".global .u32 x[2][3] = {{1, 2}, {3}};") == [1, 2, 0, 3, 0, 0]
    assert numbers(".global .u32 x[2][2][2] = {{{1}, {2}}};") == [1, 0, 2, 0, 0, 0, 0, 0]
    assert numbers(".global .u8 x[3] = {};") == [0, 0, 0]
    assert numbers(".global .v2 .u32 x[2] = {{1, 2}, {3}};") == [1, 2, 3, 0]
    assert numbers(".global .v4 .u32 x = {1, 2, 3, 4};") == [1, 2, 3, 4]


def test_values():
    assert numbers(".global .s32 x[3] = {-1, WARP_SZ * 2, (0x10)};") == [-1, 64, 16]
    assert variable(".global .f32 x = 0f3F800000;").initial == (Immediate(0x3F800000, 32),)
    assert variable(".global .f64 x = 1.0;").initial == (Immediate(0x3FF0000000000000, 64),)


def test_addresses():
    values = "{y, y + 4, y - 4, generic(y), generic(y) + 8, f}"
    text = f".func f {{ ret; }} .global .u32 y; .global .u64 x[6] = {values};"
    assert variable(text).initial == (
        Symbol("y"), Symbol("y", 4), Symbol("y", -4), Symbol("y", 0, True), Symbol("y", 8, True),
        Symbol("f"),
    )  # fmt: skip


def test_masked_addresses():
    values = "{0xff(y), 0xFF00(generic(y) + 4), 0xFF00000000000000(y)}"
    text = f".global .u32 y; .global .u8 x[] = {values};"
    assert variable(text).initial == (
        Symbol("y", mask=0xFF), Symbol("y", 4, True, 0xFF00), Symbol("y", mask=0xFF << 56),
    )  # fmt: skip


def test_properties_of_references():
    text = ".global .samplerref x = { addr_mode_0 = wrap, filter_mode = nearest, force = 1 };"
    assert variable(text).initial == (
        Symbol("addr_mode_0"), Symbol("wrap"), Symbol("filter_mode"), Symbol("nearest"),
        Symbol("force"), Immediate(1),
    )  # fmt: skip
    assert variable(".global .texref x[4];").shape == (4,)


def test_external_variables_may_be_completed():
    assert variable(".extern .global .u32 x; .visible .global .u32 x = 4;").initial
    assert variable(".visible .global .u32 x = 4; .extern .global .u32 x;").initial

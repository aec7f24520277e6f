"""Statements: instructions, guards, labels, scopes, tables, directives."""

from lockstep.isa.ptx import parse
from lockstep.isa.ptx.syntax import Memory, Negated, Register, Symbol

HEAD = ".version 8.7\n.target sm_90\n.address_size 64\n"


def function(body, before=""):
    return parse(f"{HEAD}{before}.entry k {{\n{body}\n}}").functions["k"]


def test_an_instruction():
    found = function(".reg .pred p; .reg .b32 a;\n  @!p add.sat.s32 a, a, 1;").instructions[0]
    assert (found.opcode, found.modifiers, found.name) == ("add", ("sat", "s32"), "add.sat.s32")
    assert found.guard == Negated(Register("p"))
    assert (found.position.line, found.position.column) == (6, 3)


def test_guards():
    found = function(".reg .pred %p1; @%p1 ret; @ ! %p1 ret; ret;").instructions
    assert [i.guard for i in found] == [Register("%p1"), Negated(Register("%p1")), None]


def test_modifiers_may_stand_apart():
    found = function(".reg .b32 a; ld.shared .v2 .u32 {a, a}, [a];").instructions[0]
    assert found.name == "ld.shared.v2.u32"


def test_the_first_vector_alone_has_the_width_also_beside_a_predicate():
    """Gradients and offsets have as many elements as there are coordinates."""
    found = function(""".reg .pred p; .reg .f32 a; .reg .b32 i; .reg .b64 t;
        tex.grad.2d.v4.f32.f32 {a, a, a, a}|p, [t, {a, a}], {a, a}, {a, a};
        tld4.r.2d.v4.f32.f32 {a, a, a, a}|p, [t, {a, a}], {i, i};""").instructions
    assert [len(i.operands) for i in found] == [4, 3]


def test_labels_count_instructions():
    found = function("A: B: ret; bra C; C: ret; bra A; D:")
    assert found.labels == {"A": 0, "B": 0, "C": 2, "D": 4}
    assert [i.operands for i in found.instructions if i.opcode == "bra"] == [
        (Symbol("C"),), (Symbol("A"),),
    ]  # fmt: skip


def test_names_declared_again_are_renamed():
    found = function("""
        .reg .b32 a; mov.b32 a, 0;
        { .reg .b64 a; mov.b64 a, 1; { .reg .f32 a; mov.f32 a, a; } mov.b64 a, 2; }
        mov.b32 a, 3;
        { .reg .b16 a; mov.b16 a, 4; }""")
    names = [i.operands[0].name for i in found.instructions]
    assert names == ["a", "a'2", "a'3", "a'2", "a", "a'4"]
    assert {n: v.type for n, v in found.registers.items()} == {
        "a": "b32", "a'2": "b64", "a'3": "f32", "a'4": "b16",
    }  # fmt: skip


def test_components_follow_the_renaming():
    found = function("""
        .reg .v2 .b32 v; mov.b32 v.x, 0; { .reg .v4 .b32 v; mov.b32 v.w, 0; } mov.b32 v.x, 0;""")
    assert [i.operands[0] for i in found.instructions] == [
        Register("v", 0), Register("v'2", 3), Register("v", 0),
    ]  # fmt: skip


def test_call_sequences_have_parameters_of_their_own():
    text = "{ .param .b64 q; st.param.b64 [q+0], 1; }"
    found = function(text * 3)
    assert [v.name for v in found.variables] == ["q", "q'2", "q'3"]
    assert [i.operands[0] for i in found.instructions] == [
        Memory(Symbol(v.name)) for v in found.variables
    ]


def test_a_local_name_hides_one_of_the_module():
    use = "mov.u64 d, x;"
    inner = f"{{ .shared .b32 x; {use} }}"
    before = f".global .u32 x; .entry j {{ .reg .b64 d; {use} {inner} {use} }}"
    module = parse(HEAD + before)
    found = module.functions["j"].instructions
    assert [i.operands[1].name for i in found] == ["x", "x'2", "x"]
    assert list(module.variables) == ["x"]


def test_labels_belong_to_scopes():
    found = function("{ L: bra L; } { bra L; L: } L: bra L;")
    assert found.labels == {"L'2": 0, "L'3": 2, "L": 2}
    assert [i.operands[0].name for i in found.instructions] == ["L'2", "L'3", "L"]


def test_an_inner_scope_sees_outer_labels():
    assert function("{ { bra L; } } L: ret;").instructions[0].operands == (Symbol("L"),)


def test_functions_do_not_share_names():
    module = parse(HEAD + ".entry a { .reg .b32 r; L: bra L; } .entry b { .reg .b64 r; L: bra L; }")
    assert [list(f.registers) for f in module.functions.values()] == [["r"], ["r"]]
    assert [f.labels for f in module.functions.values()] == [{"L": 0}, {"L": 0}]


def test_a_colon_of_an_expression_is_no_label():
    found = function(".reg .b32 a; mov.b32 a, 1 ? WARP_SZ : WARP_SZ; WARP: ret;")
    assert found.labels == {"WARP": 1}


def test_branch_tables():
    found = function(".reg .b32 i; t: .branchtargets A, B, A; brx.idx i, t; A: ret; B: ret;")
    assert found.tables == {"t": ("A", "B", "A")}
    assert found.instructions[0].operands == (Register("i"), Symbol("t"))
    assert found.labels == {"A": 1, "B": 2}


def test_call_targets_and_prototypes():
    found = function(
        """t: .calltargets f, g;
        p: .callprototype (.param .b32 _) _ (.param .align 8 .b8 _[16], .param .b64 x);
        q: .callprototype _ .noreturn;""",
        ".func f; .func g;",
    )
    assert found.tables == {"t": ("f", "g")}
    shape = found.prototypes["p"]
    assert [v.type for v in shape.returns] == ["b32"]
    assert [(v.name, v.type, v.shape, v.alignment) for v in shape.parameters] == [
        ("_", "b8", (16,), 8), ("x", "b64", (), 0),
    ]  # fmt: skip
    assert found.prototypes["q"].parameters == ()


def test_pragmas_of_functions_and_statements():
    found = parse(HEAD + '.pragma "m"; .entry k() .pragma "f"; { .pragma "nounroll", "s"; }')
    assert found.pragmas == ("m",)
    assert found.functions["k"].pragmas == ("f", "nounroll", "s")


def test_variables_declared_inside():
    found = function(
        ".local .align 16 .b8 depot[64]; .shared .f32 s[4][4]; .global .u32 g = 3; .const .u32 c;"
    )
    assert [(v.space, v.bytes) for v in found.variables] == [
        ("local", 64), ("shared", 64), ("global", 4), ("const", 4),
    ]  # fmt: skip


def test_video_and_vector_registers():
    found = function(
        ".reg .b32 r; .reg .v4 .f32 v;"
        "vadd4.u32.u32.u32.add r, r.b7654, r.b3210, r; ld.v4.f32 v, [r];"
    )
    assert found.instructions[0].operands[1].selector == "b7654"
    assert found.instructions[1].operands[0] == Register("v")

import pytest

from lockstep.errors import InputError
from lockstep.isa.ptx.linking import read
from lockstep.isa.ptx.parser import parse
from lockstep.isa.ptx.syntax import Symbol

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
ASKS = (
    HEAD
    + """.extern .func (.param .b32 r) helper (.param .b32 x);
.extern .global .u32 counter;
.global .u32 own = 1;
.visible .entry k ()
{
    .reg .b64 %p<3>;
    mov.u64 %p1, counter;
    mov.u64 %p2, own;
    ret;
}
"""
)
HAS = (
    HEAD
    + """.visible .global .u32 counter = 7;
.global .u32 own[2] = {2, 3};
.global .u64 place = own;
.func local () { ret; }
.visible .func (.param .b32 r) helper (.param .b32 x)
{
    .reg .b64 %p<2>;
    mov.u64 %p1, own+4;
    call local;
    ret;
}
"""
)


def symbols(function):
    return [o for i in function.instructions for o in i.operands if isinstance(o, Symbol)]


def test_what_is_external_in_one_another_has():
    module = read(ASKS + HAS)
    assert module.functions["helper"].has_body
    assert module.variables["counter"].initial[0].value == 7
    assert list(module.entries) == ["k"]
    backwards = read(HAS + ASKS)
    assert backwards.functions["helper"].has_body
    assert backwards.variables["counter"].initial[0].value == 7


def test_names_without_linkage_are_a_modules_own():
    module = read(ASKS + HAS)
    assert {"own'1", "own'2", "place", "local"} <= {*module.variables, *module.functions}
    assert [s.name for s in symbols(module.functions["k"])] == ["counter", "own'1"]
    assert symbols(module.functions["helper"]) == [Symbol("own'2", 4)]
    assert module.variables["place"].initial == (Symbol("own'2"),)
    assert module.variables["own'2"].bytes == 8


@pytest.mark.parametrize("first", ["weak", "visible"])
def test_of_weak_definitions_one_counts(first):
    body = ".{} .func f () {{ .reg .b32 %r<2>; mov.u32 %r1, {}; ret; }}\n"
    module = read(HEAD + body.format(first, 1) + HEAD + body.format("weak", 2))
    assert module.functions["f"].instructions[0].operands[1].value == 1
    module = read(HEAD + body.format("weak", 2) + HEAD + body.format(first, 1))
    assert module.functions["f"].instructions[0].operands[1].value == (2 if first == "weak" else 1)


def test_a_function_of_several_modules_is_renamed_where_it_is_called():
    has = ".func f () { ret; }\n.global .u64 at = f;\n"
    calls = ".visible .entry {} () {{ call f; {{ call f; }} ret; }}\n"
    module = read(HEAD + has + calls.format("a") + HEAD + has + calls.format("b"))
    assert {"f'1", "f'2"} < set(module.functions) and "f" not in module.functions
    callees = [i.operands[0].callee.name for i in module.functions["b"].instructions[:2]]
    assert callees == ["f'2", "f'2"]
    assert module.variables["at'2"].initial == (Symbol("f'2"),)


def test_lists_of_targets_and_aliases_are_renamed():
    has = ".func f () { ret; }\n.visible .func g{0} ();\n.alias g{0}, f;\n"
    calls = ".visible .entry k{0} () { .reg .b64 %p<2>; T: .calltargets f; call %p1, T; ret; }\n"
    text = "".join(HEAD + (has + calls).replace("{0}", name) for name in "ab")
    module = read(text)
    assert module.functions["kb"].tables == {"T": ("f'2",)}
    assert module.aliases == {"ga": "f'1", "gb": "f'2"}


def test_what_two_modules_define_is_refused_with_both_lines():
    text = HEAD + ".visible .global .u32 x;\n" + HEAD + "\n.visible .global .u32 x;\n"
    with pytest.raises(InputError, match=r"line 9, column \d+.*x is defined in line 4, too"):
        read(text, "both.ptx")


def test_lines_of_a_later_module_are_those_of_the_text():
    module = read(ASKS + HAS)
    line = (ASKS + HAS).splitlines()[module.functions["helper"].position.line - 1]
    assert "helper" in line
    with pytest.raises(InputError, match=f"line {len(ASKS.splitlines()) + 4}, "):
        read(ASKS + HEAD + "nonsense\n")


def test_modules_of_other_addresses_do_not_fit():
    with pytest.raises(InputError, match="modules of 32 and 64 bits"):
        read(HEAD + ".version 7.0\n.target sm_70\n.address_size 32\n")


def test_the_newest_version_counts():
    module = read(HEAD + ".version 8.7\n.target sm_90\n.address_size 64\n")
    assert (module.version, module.target) == ((8, 7), ("sm_90",))


def test_one_module_is_as_it_was():
    assert read(HAS) == parse(HAS)

"""What cannot be executed is refused when a module is loaded: all that lifting refuses, no more."""

import random
import re

import msgspec
import pytest

import lockstep
from lockstep.errors import InputError
from lockstep.execution.programs.program import Recording
from lockstep.execution.ptx.check import refusals
from lockstep.execution.ptx.spelling import spelling
from lockstep.execution.ptx.translate import Translation
from lockstep.isa.ptx.parser import parse
from ptx_legality import assembler, forms

SHARED_BYTES = 96 << 10
HEAD = ".version 8.8\n.target sm_90a\n.address_size 64\n"
VARIABLES = ".global .align 16 .b8 gl[64];\n.global .texref tx;\n"
REGISTERS = (
    ".reg .b16 %h<40>; .reg .b32 %r<40>; .reg .b64 %d<40>; .reg .b128 %q<4>; .reg .pred %p<4>;\n"
    ".reg .v4 .b32 %v; .shared .align 16 .b8 sh[64]; .local .align 16 .b8 lo[64];\n"
)
FIRST = 9
OPERANDS = """
%h1 %r1 %r2 %d1 %d2 %q1 %v %v.y %p1 !%p1 0 1 3 -1 65 1.5 0f3F800000 _ gl sh lo p0 tx k end
[%d1] [%r1] [%d1+8] [gl] [sh+4] [lo] [p0] [p0+4] [tx,{%r1,%r2}] [%d1,{%r1,%r2}] [%d1,%d2,{%r1}]
{%r1} {%r1,%r2} {%r1,%r2,%r3,%r4} {%d1,%d2} {%h1,%h2} {%h1,%h2,%h3} %r1|%p1 %p1|%p2
%tid.x %clock64 %laneid"""
ATOMS = OPERANDS.split()
TOGETHER = 16  # instructions; the parser stops at the first one that it refuses


def module(*lines):
    """A module with one kernel, an instruction a line; the first is line FIRST."""
    body = "\n".join(lines)
    entry = ".visible .entry k(.param .u64 p0) {\n"
    return parse(f"{HEAD}{VARIABLES}{entry}{REGISTERS}{body}\nend:\nret;\n}}\n")


def found(tree):
    """Messages by line."""
    errors = refusals(tree, SHARED_BYTES)
    return {int(re.match(r"line (\d+)", e.where)[1]): e.message for e in errors}


def split(text):
    """Operands of an instruction's text."""
    return re.findall(r"(?:[^,{}\[\]]|\{[^}]*\}|\[(?:[^\]{]|\{[^}]*\})*\])+", text)


def mutated(rng, text):
    """An instruction with other operands, more, or fewer."""
    name, _, rest = text.rstrip(";").partition(" ")
    operands = [o.strip() for o in split(rest)]
    for _ in range(rng.choice([0, 1, 1, 2])):
        place, kind = rng.randrange(len(operands) + 1), rng.random()
        operands[place : place + (kind < 0.9)] = [] if 0.8 < kind < 0.9 else [rng.choice(ATOMS)]
    guard = rng.choice(["", "", "@%p1 ", "@!%p2 "])
    return f"{guard}{name} {', '.join(operands)};"


def random_instructions(seed, count):
    """Instructions whose names are legal, with operands that may not be."""
    legal = {name for name, taken in assembler.verdicts().items() if taken and spelling(name)}
    rng = random.Random(seed)
    known = [(n, own) for form, own in forms.lines() for n in forms.spelled(form) if n in legal]
    for _ in range(count):
        name, own = rng.choice(known)
        text = mutated(rng, forms.instruction(name, rng.choice(own)))
        try:
            module(text)
        except InputError:
            continue  # the parser's business
        yield text


@pytest.mark.long
def test_what_lifting_refuses_is_refused_at_load_for_the_same_reason():
    taken = []
    for text in random_instructions(7, 600):
        problems = found(module(text))
        if not problems:
            taken.append(text)
            continue
        with pytest.raises(InputError) as caught:
            Translation(module(text), "k", Recording.NOTHING).program()
        assert caught.value.message == problems[FIRST], text
    assert len(taken) > 100
    assert not found(module(*taken))
    for start in range(0, len(taken), 40):
        Translation(module(*taken[start : start + 40]), "k", Recording.EVERYTHING).program()


@pytest.mark.long
def test_every_spelling_that_is_not_executed_is_refused():
    """All 60,000 names, among them all that the list of refusals is about."""
    verdicts = assembler.verdicts()
    names = sorted(n for n in verdicts if spelling(n) is None)
    assert len(names) > 50_000
    for start in range(0, len(names), 10_000):
        part = names[start : start + 10_000]
        problems = found(module(*[f"{name} %r1;" for name in part]))
        assert all(FIRST + k in problems for k in range(len(part)))


@pytest.mark.long
def test_legal_instructions_are_taken():
    """With some of the operands that their form has; the others may be those of other names."""
    left = []
    legal = {name for name, is_legal in assembler.verdicts().items() if is_legal}
    for form, own in forms.lines():
        names = [name for name in forms.spelled(form) if name in legal and spelling(name)]
        for operands in own:
            refused = not_taken([forms.instruction(name, operands) for name in names])
            names = [name for name, wrong in zip(names, refused) if wrong]
        left += names
    assert not left


def not_taken(texts):
    """Of each instruction, whether the parser or the check refuses it: many in each module."""
    refused = []
    while len(refused) < len(texts):
        part = texts[len(refused) :][:TOGETHER]
        try:
            tree, stopped = module(*part), []
        except InputError as error:
            part = part[: int(re.match(r"line (\d+)", error.where)[1]) - FIRST]
            tree, stopped = module(*part), [True]
        problems = found(tree)
        refused += [FIRST + k in problems for k in range(len(part))] + stopped
    return refused


TWO = """
.func unused(.reg .b32 x) {
ldmatrix.sync.aligned.m8n16.x1.b8 x, [x];
ret;
}
.visible .entry good(.param .u64 p) { ret; }
.visible .entry bad(.param .u64 p) {
.reg .b32 %r<4>;
bra end;
add.sat.u32 %r1, %r2, %r3;
add.u32 %r1, %r2;
end:
ret;
}
"""


def test_the_first_is_described_and_the_others_are_listed():
    device = lockstep.Device("QV100")
    with pytest.raises(InputError) as caught:
        device.load_ptx(HEAD + TWO)
    assert caught.value.where == "line 6, column 1"
    assert "instruction ldmatrix.sync.aligned.m8n16.x1.b8" in caught.value.message
    assert caught.value.message.endswith("(and 2 more: line 13, line 14)")


def test_a_long_list_is_cut():
    device = lockstep.Device("QV100")
    lines = "\n".join(["add.sat.u32 %r1, %r2, %r3;"] * 40)
    with pytest.raises(InputError, match=r"\(and 39 more: line 6, .*, line 15, \.\.\.\)$"):
        device.load_ptx(f"{HEAD}.entry k() {{ .reg .b32 %r<4>;\n{lines}\nret; }}\n")


def test_a_lazy_module_has_its_other_kernels():
    with lockstep.Device("QV100") as device:
        loaded = device.load_ptx(HEAD + TWO, lazy=True)
        loaded["good"][1, 32](0)
        with pytest.raises(InputError, match=r"line 13, column 1: .*add\.sat\.u32"):
            loaded["bad"][1, 32](0)


@pytest.mark.parametrize(
    ("directives", "variables", "message"),
    [
        (
            ".reqnctapercluster 17",
            "",
            "kernel k: its .reqnctapercluster is 17 CTAs; a GPU takes 16",
        ),
        (".reqntid 1025", "", "its .reqntid is 1025 threads; a GPU takes 1024"),
        ("", ".shared .b8 s[98305];", "kernel k: 98305 bytes of static shared memory; a CTA has"),
    ],
)
def test_demands_that_no_launch_meets_are_refused(directives, variables, message):
    device = lockstep.Device("QV100")
    text = f"{HEAD}.entry k() {directives} {{ {variables} ret; }}\n"
    with pytest.raises(InputError, match=re.escape(message)):
        device.load_ptx(text)
    with pytest.raises(lockstep.WorkloadError):
        device.load_ptx(text, lazy=True)["k"][1, 32]()
    allowed = (
        text.replace("cluster 17", "cluster 1").replace("1025", "32").replace("98305", "98304")
    )
    device.load_ptx(allowed)["k"][1, 32]()


def test_addresses_of_32_bits_are_refused():
    device = lockstep.Device("QV100")
    text = HEAD.replace("64\n", "32\n") + ".entry k() { ret; }\n"
    with pytest.raises(InputError, match="addresses of 32 bits are not supported"):
        device.load_ptx(text)


def test_branches_need_labels_of_their_function():
    assert "needs a label of this function" in found(module("bra gl;"))[FIRST]
    assert not found(module("bra end;"))


def test_equal_instructions_are_lifted_once():
    from lockstep.execution.ptx.opcodes import find

    tree, calls = module(*["add.f32 %r1, %r2, %r3;"] * 500), []
    entry = find("add.f32")
    lift = entry.lift
    msgspec.structs.force_setattr(entry, "lift", lambda *a: (calls.append(1), lift(*a)))
    try:
        assert not found(tree)
    finally:
        msgspec.structs.force_setattr(entry, "lift", lift)
    assert len(calls) == 1

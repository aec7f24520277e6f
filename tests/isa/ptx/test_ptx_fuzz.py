"""Damaged PTX: it parses, or InputError says where it does not; nothing else, and no hang."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.errors import InputError
from lockstep.isa.ptx import Module, parse

HEAD = ".version 8.7\n.target sm_90\n.address_size 64\n"
WORDS = [
    ".reg", ".b32", ".v4", "%r", "<", "3", ">", ";", ",", "{", "}", "(", ")", "[", "]", ":", "?",
    "@", "!", "|", "-", "+", "=", "%r1", "a", "L", "ret", "call", "mov.u32", "ld.v4.f32", ".loc",
    ".entry", ".func", ".param", ".global", ".align", ".branchtargets", ".callprototype", ".ptr",
    ".section", ".debug_str", ".file", ".pragma", ".alias", ".attribute", '"x"', "1.5",
    "0f3F800000", "0xFF", "_", "WARP_SZ", "generic", ".extern", "/*", "//", "\n", '"', "%tid.x",
    "a.x", ".const",
]  # fmt: skip
PLACE = re.compile(r"line \d+, column \d+")


def survives(text):
    """Parse; any outcome but a module or a placed InputError fails the test."""
    try:
        assert isinstance(parse(text), Module)
    except InputError as error:
        assert PLACE.fullmatch(error.where)
        assert "\n" not in error.message
        line = int(error.where.split()[1].rstrip(","))
        assert line <= text.count("\n") + 1


@pytest.fixture(scope="module")
def kernels(repository):
    names = ["gemm_wmma", "attention", "bfs", "texture", "montecarlo"]
    folder = repository / "examples" / "kernels"
    return [(folder / name / f"{name}.ptx").read_text() for name in names]


def damage(text, chance):
    """One mutation of ``text``."""
    at = chance.randrange(len(text))
    length = chance.choice([1, 2, 10, 200])
    match chance.randrange(6):
        case 0:
            return text[:at]
        case 1:
            return text[:at] + text[at + length :]
        case 2:
            return text[:at] + chr(ord(text[at]) ^ 1 << chance.randrange(8)) + text[at + 1 :]
        case 3:
            return text[:at] + chance.choice(WORDS) + text[at:]
        case 4:
            other = chance.randrange(len(text))
            return text[:at] + text[other : other + length] + text[at:]
        case _:
            return re.sub(r"\d+", lambda m: chance.choice([m[0]] * 99 + ["9" * 30, "0"]), text)


@pytest.mark.parametrize("seed", range(300))
def test_damaged_kernels(kernels, seed):
    chance = random.Random(seed)
    text = chance.choice(kernels)
    for _ in range(chance.choice([1, 1, 1, 5])):
        text = damage(text, chance)
    survives(text)


@given(st.lists(st.sampled_from(WORDS), max_size=40))
def test_words_in_any_order(words):
    survives(HEAD + " ".join(words))


@given(st.lists(st.sampled_from(WORDS), max_size=40))
def test_words_in_a_body(words):
    survives(
        f"{HEAD}.entry k(.param .b32 a) {{ .reg .b32 %r<3>; .reg .v4 .f32 v; {' '.join(words)} }}"
    )


@given(st.text(max_size=60))
def test_any_text(text):
    survives(text)
    survives(HEAD + text)


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        "{" * 100_000, "}" * 100_000, "{" * 50_000 + "}" * 50_000, "mov " + "{" * 100_000,
        "mov " + "(" * 100_000, "mov " + "-" * 100_000, "mov " + "[" * 100_000, "L:" * 50_000,
        "mov " + "[a,{" * 50_000, "mov " + "1?" * 50_000, "call " + "(" * 50_000, "/*" * 100_000,
        "mov " + "1+" * 100_000 + "1;", "mov " + "!" * 50_000, '"' + "\\" * 100_001,
        "mov " + "9" * 100_000, "mov " + "a" * 100_000, "mov 1" + "<<63" * 50_000 + ";",
        "{ L: " * 20_000, "mov a" + "+1" * 50_000 + ";", "mov 1" + ".1" * 50_000,
    ],
    ids=lambda text: text[:9],
)  # fmt: skip
def test_long_and_deep(text):
    survives(f"{HEAD}.entry k {{ {text}")
    survives(f"{HEAD}.global .u32 x[] = {text}")
    survives(HEAD + text)

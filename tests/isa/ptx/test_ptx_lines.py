"""Line information and debug sections."""

from lockstep.isa.ptx import parse
from lockstep.isa.ptx.syntax import SourceLine

HEAD = ".version 8.7\n.target sm_90\n.address_size 64\n"
TAIL = """
.file 1 "a.cu"
.file 2 "dir\\\\b.h", 1700000000, 321
.section .debug_str
{
$L__info_string0:
.b8 95,90,51,0
$L__info_string1: .b8 98,97
.b8 114,0
}
"""


def sources(body):
    module = parse(f"{HEAD}.entry k {{ {body} }} {TAIL}")
    return [i.source for i in module.functions["k"].instructions]


def test_files_may_follow_what_refers_to_them():
    assert parse(HEAD + TAIL).files == {1: "a.cu", 2: "dir\\b.h"}


def test_a_line_holds_to_the_next():
    assert sources("ret; .loc 1 3 4 ret; ret; .loc 2 5 6\nret;") == [
        None, SourceLine("a.cu", 3, 4), SourceLine("a.cu", 3, 4), SourceLine("dir\\b.h", 5, 6),
    ]  # fmt: skip


def test_a_label_may_follow_a_line():
    module = parse(f"{HEAD}.entry k {{ .loc 1 3 4\nL: ret; }} {TAIL}")
    assert module.functions["k"].labels == {"L": 0}


def test_inlined_functions():
    inner, middle = sources("""
        .loc 1 19 2
        .loc 2 152 3, function_name $L__info_string0, inlined_at 1 19 2
        .loc 2 145 4, function_name $L__info_string1, inlined_at 2 152 3
        ret;
        .loc 2 150 1, function_name $L__info_string0+1, inlined_at 1 20 2
        ret;""")
    assert (inner.line, inner.function) == (145, "bar")
    assert (inner.inlined_at.line, inner.inlined_at.function) == (152, "_Z3")
    assert inner.inlined_at.inlined_at == SourceLine("a.cu", 19, 2)
    assert (middle.function, middle.inlined_at) == ("Z3", SourceLine("a.cu", 20, 2))


def test_a_line_of_an_unnamed_file():
    assert sources(".loc 7 3 4 ret;") == [SourceLine("", 3, 4)]


def test_lines_end_with_their_function():
    module = parse(f"{HEAD}.func f {{ .loc 1 3 4 ret; }} .func g {{ ret; }} {TAIL}")
    assert module.functions["g"].instructions[0].source is None


def test_sections_are_kept_as_text():
    module = parse(
        HEAD + ".section .debug_info { .b32 .debug_abbrev\n.b64 $L }.section .debug_info {.b8 1}"
    )
    assert module.sections == {".debug_info": ".b32 .debug_abbrev\n.b64 $L\n.b8 1"}

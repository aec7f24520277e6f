"""Tokens, comments, and where things are."""

import pytest

from lockstep.errors import InputError
from lockstep.isa.ptx.lexer import END, Cursor


def tokens(text):
    cursor = Cursor(text, "t.ptx")
    return cursor.texts[: cursor.kinds.index(END)]


def test_opcodes_and_components_are_one_token():
    assert tokens("ld.global.L1::evict_last.v4.f32 %r1, %tid.x;") == [
        "ld.global.L1::evict_last.v4.f32", "%r1", ",", "%tid.x", ";",
    ]  # fmt: skip


def test_modifiers_may_begin_with_digits():
    assert tokens("tex.1d.v4 .2d .m8n8k4") == ["tex.1d.v4", ".2d", ".m8n8k4"]


def test_numbers():
    text = "0x1F 0b11U 017 9U 1.5 1. .5 1e-5 2E9 0f3F800000 0d3ff0000000000000 [a+-4]"
    assert tokens(text) == [*text.split()[:-1], "[", "a", "+", "-", "4", "]"]


def test_signs_are_as_long_as_they_can_be():
    assert tokens("1<<2>>3<=4>=5==6!=7&&8||9<a>") == [
        "1", "<<", "2", ">>", "3", "<=", "4", ">=", "5", "==", "6", "!=", "7", "&&", "8", "||",
        "9", "<", "a", ">",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["// to the end\na", "/* one */a/***/", "/* two\nlines * / */ a", '# 1 "f.c"\na', "\r\n\ta\0"],
)
def test_comments_and_spaces_vanish(text):
    assert tokens(text) == ["a"]


def test_old_debug_lines_vanish():
    assert tokens('@@DWARF .section .debug_info, "", @progbits\na') == ["a"]


def test_positions_count_from_one():
    cursor = Cursor("a\n  b /*\n*/ c", "t.ptx")
    places = [(p.line, p.column) for p in map(cursor.position, range(3))]
    assert places == [(1, 1), (2, 3), (3, 4)]


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("a\n /* b", "line 2, column 2", "this comment is not terminated"),
        ('a "b\n"', "line 1, column 3", "this string is not terminated"),
        ("a\n#define b", "line 2, column 1", "expected PTX, found '#'"),
        ("é", "line 1, column 1", r"expected PTX, found '\xe9'"),
        ("a.", "line 1, column 2", "expected PTX, found '.'"),
    ],
)
def test_what_is_no_token(text, where, message):
    with pytest.raises(InputError) as caught:
        Cursor(text, "t.ptx")
    assert (caught.value.path, caught.value.where) == ("t.ptx", where)
    assert caught.value.message == message


def test_strings_lose_their_quotes_and_escapes():
    assert Cursor(r'"C:\\a \"b\" \n"', "t").string("a path") == r'C:\a "b" \n'

import ctypes

import numpy as np
import pytest

from lockstep._jit import loading, target
from lockstep._jit.placing import Placed, Unknown
from lockstep.execution.programs.native import assemble

pytestmark = pytest.mark.skipif(not target.is_linux_x86(), reason="of Linux on x86-64")

WORDS = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)

CONSTANTS = """
@table = private unnamed_addr constant [4 x i64] [i64 11, i64 22, i64 33, i64 44]
define i64 @f(i64 %k) {
  %place = getelementptr [4 x i64], ptr @table, i64 0, i64 %k
  %x = load i64, ptr %place
  ret i64 %x
}
"""
SWITCH = """
define i64 @f(i64 %k) {
  switch i64 %k, label %other [
    i64 0, label %a
    i64 1, label %b
    i64 2, label %c
    i64 3, label %d
  ]
a:
  %one = call i64 @far(i64 100)
  ret i64 %one
b:
  %two = call i64 @far(i64 200)
  ret i64 %two
c:
  ret i64 7
d:
  %four = call i64 @near(i64 9)
  ret i64 %four
other:
  ret i64 -1
}
define i64 @near(i64 %k) noinline {
  %x = mul i64 %k, %k
  ret i64 %x
}
declare i64 @far(i64)
"""
NUMBER = """
@number = external global i8
define i64 @f(i64 %k) {
  %x = ptrtoint ptr @number to i64
  %y = add i64 %x, %k
  ret i64 %y
}
"""
OF_C = """
declare ptr @memset(ptr, i32, i64)
define i64 @f(i64 %k) {
  %p = alloca [4096 x i8]
  %q = call ptr @memset(ptr %p, i32 1, i64 4096)
  %r = getelementptr i8, ptr %p, i64 %k
  %x = load i64, ptr %r, align 1
  ret i64 %x
}
"""
WRITTEN = """
@count = internal global i64 5
define i64 @f(i64 %k) {
  %x = load i64, ptr @count
  %y = add i64 %x, %k
  store i64 %y, ptr @count
  ret i64 %y
}
"""


def call(address, *numbers):
    return [WORDS(address)(number) for number in numbers]


@WORDS
def called(number):
    return number + 1


FAR = ctypes.cast(called, ctypes.c_void_p).value


@pytest.mark.parametrize(
    ("text", "numbers", "expected"),
    [
        (CONSTANTS, {}, [11, 22, 33, 44]),
        (SWITCH, {"far": FAR}, [101, 201, 7, 81]),
        (NUMBER, {"number": 1 << 40}, [(1 << 40) + k for k in range(4)]),
        (NUMBER, {"number": (1 << 64) - 2}, [-2, -1, 0, 1]),
        (OF_C, {}, [0x0101010101010101] * 4),
    ],
)
def test_code_does_what_it_does_when_llvm_places_it(text, numbers, expected):
    code = assemble(text)
    placed = Placed(code, numbers)
    assert call(placed.addresses["f"], *range(4)) == expected
    addresses, owner = loading._place_by_llvm(code, ["f"], numbers)
    assert call(addresses["f"], *range(4)) == expected
    assert owner


def test_a_function_that_is_near_is_called_directly():
    text = "declare i64 @g(i64)\ndefine i64 @f(i64 %k) {\n%x = call i64 @g(i64 %k)\nret i64 %x\n}\n"
    code, place = assemble(text), Placed(assemble(CONSTANTS), {})
    placed = Placed(code, {"g": place.addresses["f"]})
    assert call(placed.addresses["f"], 0, 3) == [11, 44]
    assert place.addresses["f"] in calls(placed.addresses["f"])
    placed = Placed(code, {"g": place.addresses["f"] + (1 << 40)})
    assert place.addresses["f"] not in calls(placed.addresses["f"])


def calls(address, count=64):
    """Where the direct calls and jumps in the first bytes of a function may lead."""
    code = ctypes.string_at(address, count)
    starts = [k for k in range(count - 5) if code[k] in (0xE8, 0xE9)]
    return {address + k + 5 + int.from_bytes(code[k + 1 : k + 5], "little", signed=True)
            for k in starts}  # fmt: skip


def test_what_is_executed_cannot_be_written_and_what_is_read_not_executed():
    placed = Placed(assemble(CONSTANTS), {})
    assert [allowed for _, allowed in mappings(placed)] == ["r-xp", "r--p"]


def test_memory_goes_with_the_code():
    placed = Placed(assemble(CONSTANTS), {})
    address = placed.addresses["f"]
    assert is_executable(address)
    del placed
    assert not is_executable(address)


def mappings(placed):
    """The mapping with the function, and the next one."""
    address, found = placed.addresses["f"], lines()
    (at,) = (k for k, (there, _) in enumerate(found) if address in there)
    return found[at : at + 2]


def is_executable(address):
    """Whether it lies in such a mapping; the system joins those that lie side by side."""
    return any(address in there for there, allowed in lines() if "x" in allowed)


def lines():
    with open("/proc/self/maps") as file:
        rows = [line.split()[:2] for line in file]
    return [(range(*(int(end, 16) for end in ends.split("-"))), allowed) for ends, allowed in rows]


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (lambda: assemble(WRITTEN), "has type"),
        (lambda: assemble(NUMBER), "nobody defines number"),
        (lambda: b"\x7fELF\x02\x01\x01" + bytes(57), "no object code"),
        (lambda: b"MZ" + bytes(100), "no object code"),
        (lambda: assemble(CONSTANTS)[:200], "it is cut"),
        (lambda: assemble(CONSTANTS)[:18] + b"\xb7\0" + assemble(CONSTANTS)[20:], "machine 183"),
        (lambda: of_kind(assemble(CONSTANTS), 25), "relocations of kind 25"),
    ],
)
def test_what_is_not_known_is_said(code, problem):
    with pytest.raises(Unknown, match=problem):
        Placed(code(), {})


def of_kind(code, kind):
    """Object code whose PC-relative relocations are of another kind."""
    words = np.frombuffer(code, np.uint8).copy()
    found = [k for k in range(0, len(code) - 24, 8) if code[k + 8 : k + 12] == b"\2\0\0\0"]
    assert found, "there is a relocation"
    for k in found:
        words[k + 8] = kind
    return words.tobytes()


def test_what_is_not_known_is_placed_by_llvm():
    loaded = loading.Loaded(assemble(WRITTEN), ["f"])
    assert call(loaded.address("f"), 1, 2) == [6, 8]

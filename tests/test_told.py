"""What LLVM is told of memory is in force, is true, and is not told of users' functions."""

import re

import numba
import numpy as np
import pytest

from lockstep import _jit
from lockstep._jit.compiler import parts, told
from lockstep._jit.settings import DISABLED, OPTIONS
from lockstep.model.records import records

pytestmark = pytest.mark.skipif(DISABLED, reason="nothing is compiled")
INNER = np.dtype([("x", "i8"), ("y", "i8")])
RECORD = np.dtype([("a", "i8"), ("b", "i8"), ("inner", INNER), ("row", "i8", (3,))])


def llvm_of(function, *types):
    """The code of a function as it leaves Numba."""
    with told.telling():
        compiled = parts.PartDispatcher(function, **OPTIONS)._compiler.compile(types, None)
    return str(compiled.library._final_module)


def total(array, index):
    return array[index] + array[index + 1]


def test_no_index_is_compared_with_zero():
    array = numba.types.Array(numba.types.int64, 1, "C")
    assert "icmp slt" not in llvm_of(total, array, numba.types.int64)
    plain = numba.njit((array, numba.types.int64), **OPTIONS)(total)
    assert any("icmp slt" in text for text in plain.inspect_llvm().values())


def test_accesses_say_what_they_are_of():
    def touch(array, numbers):
        array[0].a = numbers[0] + array[0].b + array[0].inner.y + array[0].row[1]

    kinds = numba.types.Array(numba.from_dtype(RECORD), 1, "C"), numba.types.int64[::1]
    found = set(re.findall(r'!"((?:field|element)[^"]*)"', llvm_of(touch, *kinds)))
    size = RECORD.itemsize
    fields = {f"field at 0 of {size}", f"field at 8 of {size}", f"field at 8 of {INNER.itemsize}"}
    assert found == fields | {"element of 64 bits"}


def test_an_index_that_counts_from_the_end_is_refused():
    with pytest.raises(TypeError, match="count from the start"):
        _jit.jit(lambda array: array[-1])(np.arange(3))


def scramble(array, numbers, bytes_, order):
    """Writes and reads of one place by different names, again and again."""
    found = 0
    for k in range(len(order) - 1):
        i, j = order[k], order[k + 1]
        one, two = array[i], array[j]
        one.a += 1
        two.a += 2
        one.b = two.a
        two.inner.x = one.b + one.inner.x
        one.inner.y = two.inner.x - one.a
        one.row[j % 3] += two.row[i % 3] + 1
        two.row[i % 3] -= one.row[0]
        copied = array[j]
        array[i] = copied
        found = found * 3 + one.a + two.b + one.inner.y + two.row[1] + array[i].inner.x
        numbers[i] = (numbers[i] + numbers[j] + found) & 0xFFFFFFFF
        numbers[j] -= one.a
        bytes_[i] = numbers[i] & 127
        found += bytes_[j] + numbers[i]
        found &= 0xFFFFFFFF
    return found


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_what_is_at_one_place_is_seen_there(seed):
    random = np.random.default_rng(seed)
    order = random.integers(0, 3, 200)
    order[::7] = order[1::7][: len(order[::7])] if len(order[1::7]) else 0
    results = []
    for function in (scramble, _jit.jit(scramble)):
        array, numbers = records(3, RECORD), np.zeros(3, np.int64)
        array["row"] = np.arange(9).reshape(3, 3)
        found = function(array, numbers, np.zeros(3, np.uint8), order)
        results.append((int(found), array.tobytes(), numbers.tolist()))
    assert results[0] == results[1]


def test_functions_of_users_keep_the_meaning_of_python():
    assert _jit.jit(total)(np.arange(5), 2) == 5
    last = numba.njit(lambda array, k: array[-1] + array[-k])
    assert last(np.arange(5), 2) == 4 + 3
    assert _jit.jit(lambda array, k: array[k] + 1)(np.arange(5), 2) == 3
    assert last(np.arange(5.0), 2) == 4 + 3

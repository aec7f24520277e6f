"""Records that are copied as plain bytes."""

import numpy as np
import pytest

from lockstep._jit import as_records
from lockstep.plain_bytes import LARGE, copied, plain, put_together, together

KIND = np.dtype([("a", "i8"), ("b", "i4", (2,))])


def _records(*numbers):
    made = np.zeros(len(numbers), KIND)
    made["a"], made["b"] = numbers, np.reshape(np.repeat(numbers, 2), (-1, 2))
    return made


@pytest.mark.parametrize("wrap", [lambda array: array, as_records], ids=["plain", "records"])
def test_records_follow_each_other(wrap):
    parts = [wrap(_records(1, 2)), wrap(_records()), wrap(_records(3, 4, 5)[::2])]
    found = together(parts, KIND)
    assert found.dtype == KIND and found["a"].tolist() == [1, 2, 3, 5]
    assert found["b"].tolist() == [[1, 1], [2, 2], [3, 3], [5, 5]]


@pytest.mark.parametrize("wrap", [lambda array: array, as_records], ids=["plain", "records"])
def test_a_copy_is_of_the_same_kind_and_apart(wrap):
    given = wrap(_records(1, 2, 3))
    for part, numbers in ((given, [1, 2, 3]), (given[:0], []), (given[1:], [2, 3])):
        made = copied(part)
        assert made.dtype == KIND and made["a"].tolist() == numbers
        part["a"] += 10
        assert made["a"].tolist() == numbers
        part["a"] -= 10
    numbers = np.arange(5)
    assert copied(numbers).tolist() == [0, 1, 2, 3, 4] and copied(numbers) is not numbers


def test_one_part_is_not_copied():
    part = _records(1)
    assert together([part], KIND) is part


def test_what_is_written_as_bytes_is_in_the_records():
    to = _records(0, 0, 0)
    plain(to)[1:] = plain(_records(7, 8))
    assert to["a"].tolist() == [0, 7, 8]
    numbers = np.arange(3)
    assert plain(numbers) is numbers


@pytest.mark.parametrize("wrap", [lambda array: array, as_records], ids=["plain", "records"])
def test_records_are_put_into_a_part_of_others(wrap):
    to = wrap(_records(9, 9, 9, 9, 9))
    put_together([_records(1, 2), _records(), _records(3, 4, 5)[::2][:1]], to[1:4])
    assert to["a"].tolist() == [9, 1, 2, 3, 9] and to["b"][3].tolist() == [3, 3]


def test_numbers_of_another_kind_become_those_of_the_target():
    to = np.zeros(4, np.int64)
    put_together([np.array([1, 2], np.int32), np.array([-3]), np.array([4.0])], to)
    assert to.tolist() == [1, 2, -3, 4]


@pytest.mark.parametrize("count", [1, LARGE + 1], ids=["small", "large"])
def test_parts_of_any_size_follow_each_other(count):
    """Large ones are copied by themselves, without a copy of all."""
    first, second = _records(*range(count)), _records(*range(-count, 0))
    to = _records(*[0] * (2 * count + 1))
    put_together([first, second], to[:-1])
    assert to["a"].tolist() == [*range(count), *range(-count, 0), 0]
    numbers = np.zeros(2 * count, np.int64)
    put_together([np.arange(count, dtype=np.int32), np.arange(count) + 0.0], numbers)
    assert numbers.tolist() == [*range(count)] * 2

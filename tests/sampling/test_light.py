"""What classifiers see of launches: columns by hand, and where they are in an iteration."""

import numpy as np
import pandas as pd
import pytest

from lockstep.sampling import LaunchTable
from lockstep.sampling.light import ARGUMENTS, WORDS, Light, position


def _table(names, **columns):
    return LaunchTable(pd.DataFrame({"name": list(names)} | columns))


def _features(table, seen=None):
    light = Light.of(table, len(table) if seen is None else seen)
    return light.features(light.rows.row)


def test_launches_that_look_alike_are_one_row():
    table = _table("aabab" * 2, grid_x=[1, 1, 1, 2, 1] * 2, range="all")
    light = Light.of(table, 10)
    assert light.rows.counts.sum() == 10
    assert light.features(np.arange(len(light.rows.first))).shape == (
        len(light.rows.first),
        WORDS + 6 + ARGUMENTS + 1,
    )
    assert light.rows.row.tolist()[:5] == light.rows.row.tolist()[5:]  # a period of five


def test_names_count_their_words_and_as_a_whole():
    one, two, both = _features(_table(["gemm", "relu", "gemm<relu, relu>"]))[:, :WORDS]
    assert [one.sum(), two.sum(), both.sum()] == [3, 3, 5]
    assert one @ both >= 1 and two @ both >= 2


def test_names_with_words_of_one_hash_differ():
    names = [f"k{k}" for k in range(1000)]
    assert len(np.unique(_features(_table(names))[:, :WORDS], axis=0)) == 1000


def test_shapes_are_logarithms():
    table = _table("ab", grid_x=[0, 7], grid_z=[3, 3], block_y=[1, 15])
    shape = _features(table)[:, WORDS : WORDS + 6]
    assert shape[1] == pytest.approx(np.log1p([7, 1, 3, 1, 15, 1]), rel=1e-6)
    assert shape[0] == pytest.approx(np.log1p([0, 1, 3, 1, 1, 1]), rel=1e-6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("3 -1 0.5", [3, -1, 0.5]),
        ("@3+64 7 @1", [7]),  # pointers are no numbers
        ("(1,2,@3) 1e3", [1, 2, 1000]),
        ("0x10 nan -inf", []),
        ("1e999 4", [1e300, 4]),
        (" ".join(map(str, range(1, 20))), list(range(1, 9))),
    ],
)
def test_arguments_are_their_numbers(text, expected):
    found = _features(_table("a", arguments=[text]))[0, WORDS + 6 : -1]
    logarithms = [np.sign(x) * np.log1p(abs(x)) for x in expected]
    assert found == pytest.approx(logarithms + [0] * (ARGUMENTS - len(expected)), rel=1e-6)


def test_positions():
    assert position(_table("abcd" * 3), 12).tolist() == [0, 1, 2, 3] * 3
    assert position(_table("abcdxxxx"), 8).tolist() == [0] * 8
    # The period is that of the first launches; what comes later goes on in it.
    assert position(_table("ababab" + "xyzxyz"), 6).tolist() == [0, 1] * 6
    ranges = ["", "", "s0", "s0", "s0", "s1", "s1", "", "s0"]
    assert position(_table("aaaaaaaaa", range=ranges), 9).tolist() == [0, 1, 0, 1, 2, 0, 1, 0, 0]

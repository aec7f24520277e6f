import click
import pytest

from lockstep.cli.parameters import (
    CheckedText,
    KernelIds,
    MemorySize,
    NumberList,
    check_table,
    check_writable,
)
from lockstep.errors import InputError, LockstepError


def test_a_text_is_checked_and_stays_as_it_is():
    def check(text):
        if text != "right":
            raise LockstepError(f"{text!r} is not right")

    kind = CheckedText("TEXT", check)
    assert kind.convert("right", None, None) == "right"
    with pytest.raises(click.BadParameter, match="'wrong' is not right"):
        kind.convert("wrong", None, None)


@pytest.mark.parametrize(
    ("text", "ids"),
    [("3", {3}), ("3,5-9", {3, 5, 6, 7, 8, 9}), ("1-1", {1}), (" 2 , 4 ", {2, 4})],
)
def test_selections(text, ids):
    assert KernelIds().convert(text, None, None) == ids


@pytest.mark.parametrize("text", ["", "a", "3-", "-3", "5-2", "1,,2", "1-99999999999", "1.5", "²"])
def test_selections_that_say_nothing(text):
    with pytest.raises(click.BadParameter):
        KernelIds().convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("16GB", 16 << 30),
        ("1.5GiB", 3 << 29),
        ("512m", 512 << 20),
        ("4096", 4096),
        ("1TB", 1 << 40),
    ],
)
def test_amounts_of_memory(text, size):
    assert MemorySize().convert(text, None, None) == size


@pytest.mark.parametrize("text", ["", "GB", "0", "-1GB", "16 XB", "2TB", "1e400", "nan", "٣GB"])
def test_what_is_no_amount_of_memory(text):
    with pytest.raises(click.BadParameter, match=r"expected e\.g\."):
        MemorySize().convert(text, None, None)


def test_outputs_are_checked_before_the_work(tmp_path):
    (tmp_path / "file").write_text("")
    check_writable(None)
    check_writable(tmp_path / "new.json")
    check_writable(tmp_path / "file")
    check_writable(tmp_path / "a" / "b" / "new.json")
    check_writable(tmp_path, directory=True)
    for path, directory in ((tmp_path, False), (tmp_path / "file", True)):
        with pytest.raises(InputError, match="cannot write: is a"):
            check_writable(path, directory)
    with pytest.raises(InputError, match="not a writable directory"):
        check_writable(tmp_path / "file" / "x.json")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("16", (16,)),
        ("4,6", (4, 6)),
        ("1:16", (1, 2, 4, 8, 16)),
        ("3:13", (3, 6, 12)),
        ("1:2,2:4, 5", (1, 2, 4, 5)),
        ("7:7", (7,)),
    ],
)
def test_lists_of_numbers(text, numbers):
    assert NumberList().convert(text, None, None) == numbers
    assert NumberList().convert(numbers, None, None) == numbers


def test_lists_of_amounts_of_memory():
    found = NumberList(MemorySize()).convert("8K:32K,24KB,1.5M", None, None)
    assert found == (8192, 16384, 32768, 24576, 3 << 19)


@pytest.mark.parametrize("text", ["", ",", "4,", ":", "4:", ":4", "8:4", "0", "-1", "1-4", "1:2:4"])
def test_what_is_no_list_of_numbers(text):
    with pytest.raises(click.BadParameter):
        NumberList().convert(text, None, None)


def test_a_table_is_checked_before_the_work(tmp_path, monkeypatch):
    check_table(None)
    check_table(tmp_path / "new" / "t.csv")
    with pytest.raises(InputError, match=r"names no kind of table; expected \.parquet or \.csv"):
        check_table(tmp_path / "t")
    with pytest.raises(InputError, match="cannot write"):
        check_table(tmp_path)
    monkeypatch.setattr("lockstep.metrics.output.has_parquet", lambda: False)
    check_table(tmp_path / "t.csv")
    with pytest.raises(InputError, match=r"or name a \.csv"):
        check_table(tmp_path / "t.parquet")

import click
import pytest

from lockstep.cli.parameters import KernelIds, MemorySize, check_writable
from lockstep.errors import InputError


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

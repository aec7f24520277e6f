import pytest

from lockstep.errors import InputError
from lockstep.toml_files import MAX_BYTES, MAX_DEPTH, read


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "mine.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read(path, "list of wishes")

    return write


def test_what_stands_there(written):
    assert written('a = [1, "x"]\n[b]\nc.d = 2.5') == {"a": [1, "x"], "b": {"c": {"d": 2.5}}}


def test_a_file_may_be_as_large_as_said_and_no_larger(written):
    assert written("#" * MAX_BYTES) == {}
    with pytest.raises(InputError, match=f"larger than {MAX_BYTES} bytes: not a list of wishes"):
        written("#" * (MAX_BYTES + 1))


def test_lists_may_be_as_deep_as_said_and_no_deeper(written):
    inside = MAX_DEPTH - 1
    assert written("a = " + "[" * inside + "]" * inside)
    with pytest.raises(InputError, match=f"not a list of wishes: .* more than {MAX_DEPTH} deep"):
        written("a = " + "[" * MAX_DEPTH + "]" * MAX_DEPTH)


def test_a_key_may_have_as_many_parts_as_said_and_no_more(written):
    assert written(".".join("a" * MAX_DEPTH) + " = 1")
    with pytest.raises(InputError, match=f"a key of more than {MAX_DEPTH} parts"):
        written(".".join("a" * (MAX_DEPTH + 1)) + " = 1")


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        (b"a = 1\n# \xff", "byte 8", "expected UTF-8"),
        ("a = 1\nb = 2 3", "line 2", "Expected newline"),
        ("a = 1\na = 2", "the end", "Cannot overwrite"),
        ("a = " + "9" * 5000, "", "not a list of wishes: Exceeds the limit"),
    ],
)
def test_what_is_no_toml_is_told_with_its_place(written, text, place, problem):
    with pytest.raises(InputError) as error:
        written(text)
    assert f"mine.toml{', ' * bool(place)}{place}: {problem}" in str(error.value)


def test_no_file(tmp_path):
    with pytest.raises(InputError, match=r"absent\.toml: No such file"):
        read(tmp_path / "absent.toml", "list of wishes")

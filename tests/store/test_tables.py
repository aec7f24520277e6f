import msgspec
import pytest

from lockstep import store
from lockstep.store import content, sources, tables

FILES = ["plain_bytes.py", "gpus/QV100.toml"]


class Shape(msgspec.Struct, frozen=True):
    """What a table may hold: texts, pairs as keys, numbers."""

    name: str
    entries: dict[tuple[str, str], tuple[float, ...]]


SHAPE = Shape("a shape", {("x", "y"): (1.0, 2.5), ("", "é"): ()})


def kept(make, name="shapes", files=FILES):
    return tables.kept(name, files, Shape, make)


def never():
    pytest.fail("it was kept, and made again")


def test_what_is_kept_is_not_made_again(place):
    assert kept(lambda: SHAPE) == SHAPE
    assert kept(never) == SHAPE
    other = Shape("another", {})
    assert kept(lambda: other, name="others") == other
    assert kept(never) == SHAPE


def test_another_content_of_a_file_makes_it_again(place, monkeypatch):
    kept(lambda: SHAPE)
    known = sources.source

    def changed(file):
        found = known(file)
        return msgspec.structs.replace(found, digest=b"changed") if file == FILES[1] else found

    monkeypatch.setattr(sources, "source", changed)
    other = Shape("newer", {})
    assert kept(lambda: other) == other


def test_a_file_that_is_there_now_makes_it_again(place):
    kept(lambda: SHAPE)
    other = Shape("newer", {})
    assert kept(lambda: other, files=[*FILES, "errors.py"]) == other


@pytest.mark.parametrize("damage", [b"", b"no entry"])
def test_a_damaged_table_is_made_again(place, capsys, damage):
    kept(lambda: SHAPE)
    (file,) = (place.path / "tables").iterdir()
    file.write_bytes(damage)
    assert kept(lambda: SHAPE) == SHAPE
    assert "is damaged and made again" in capsys.readouterr().err
    assert kept(never) == SHAPE


def test_what_another_version_encoded_is_made_again(place):
    store.put("tables", f"shapes {sources.digest(FILES)}", msgspec.msgpack.encode(["a", 3]))
    assert kept(lambda: SHAPE) == SHAPE
    assert kept(never) == SHAPE


def test_a_place_that_takes_nothing_is_no_matter(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(store.places, "places", lambda: ())
    assert kept(lambda: SHAPE) == SHAPE
    assert capsys.readouterr().err == ""
    assert content.get("tables", "x") is None

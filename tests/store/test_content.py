import os
import re

import pytest

from lockstep import store
from lockstep.store import content


def stored(place, key="key"):
    store.put("model", key, b"content")
    return place.path / "model" / content.file_name(key)


def test_what_is_put_is_got(place):
    assert store.get("model", "key") is None
    file = stored(place)
    assert store.get("model", "key") == b"content"
    assert store.get("translation", "key") is None and store.get("model", "other") is None
    assert file.stat().st_mode & 0o022 == 0


def test_use_makes_an_entry_young(place):
    file = stored(place)
    os.utime(file, (0, 0))
    store.get("model", "key")
    assert file.stat().st_mtime > 1e9


def link(file):
    file.rename(file.parent / "elsewhere")
    file.symlink_to("elsewhere")


def swap(file):
    store.put("model", "other", b"other content")
    file.write_bytes((file.parent / content.file_name("other")).read_bytes())


@pytest.mark.parametrize(
    "damage, message",
    [
        (lambda file: file.write_bytes(b""), "it is empty"),
        (lambda file: file.write_bytes(file.read_bytes()[:-1]), "it has .* bytes where"),
        (swap, "it is another entry, 'model/other'"),
        (link, "it is a link"),
        (lambda file: (file.unlink(), os.mkfifo(file)), "it is no file"),
        (lambda file: file.chmod(0o666), r"it can be written by others \(mode 0666\)"),
    ],
)
def test_damage_is_said_in_one_line_and_mended(place, capsys, damage, message):
    file = stored(place)
    damage(file)
    assert store.get("model", "key") is None and store.get("model", "key") is None
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"lockstep: {file} is damaged and made again: ")
    assert re.search(message, line)
    store.put("model", "key", b"new")
    assert store.get("model", "key") == b"new"


def test_what_cannot_be_kept_costs_one_line(place, capsys):
    (place.path).write_text("no folder")
    for key in ("one", "two"):
        store.put("model", key, b"content")
        assert store.get("model", key) is None
    assert capsys.readouterr().err.count("what is compiled is not kept") == 1


def test_without_a_place_nothing_is_kept(monkeypatch, capsys):
    monkeypatch.setattr(store.places, "places", lambda: ())
    store.places.say.cache_clear()
    store.put("model", "key", b"content")
    assert store.get("model", "key") is None
    assert capsys.readouterr().err.count("no cache can be written") == 1

import os
import subprocess
import sys

import pytest

from lockstep import store
from lockstep.cli import prebuilt
from lockstep.store import content, places


@pytest.fixture
def place(monkeypatch, tmp_path):
    """A cache with three entries."""
    found = store.Place(tmp_path / "cache", writable=True)
    monkeypatch.setattr(places, "places", lambda: (found,))
    places.say.cache_clear()
    for key in "one", "two":
        store.put("model", key, b"content")
    store.folder("runtime", "key", lambda path: (path / "lib.so").write_text("library"))
    return found


def test_a_cache_is_described(call, place):
    done = call("cache", "info")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == f"{place.path}: in use"
    assert lines[1].startswith("  machine code of the model: 2 entries, ")
    assert lines[3].startswith("  the replacement of the CUDA runtime: 1 entries, ")


def test_damaged_entries_are_named(call, place):
    file = place.path / "model" / content.file_name("one")
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    library = place.path / "runtime" / content.file_name("key")
    (library / "lib.so").write_text("librarz")
    swapped = place.path / "model" / content.file_name("three")
    swapped.write_bytes((file.parent / content.file_name("two")).read_bytes())
    done = call("cache", "info")
    assert done.exit_code == 1
    assert f"  {file} is damaged: its checksum is wrong\n" in done.stdout
    assert f"  {library} is damaged: the checksum of lib.so is wrong\n" in done.stdout
    assert f"  {swapped} is damaged: it is another entry, 'model/two'\n" in done.stdout


def test_only_what_is_ours_is_removed(call, place):
    (place.path / "model" / "notes.txt").write_text("mine")
    (place.path / "thesis.tex").write_text("mine")
    half = place.path / "translation" / f".{content.file_name('half')}.x"
    half.parent.mkdir()
    half.write_text("")
    done = call("cache", "clear")
    assert (done.exit_code, done.stdout) == (0, f"{place.path}: 3 entries removed\n")
    left = sorted(str(p.relative_to(place.path)) for p in place.path.rglob("*"))
    assert left == ["model", "model/notes.txt", "thesis.tex"]


def test_building_says_what_it_did_and_what_it_could_not(call, place, monkeypatch):
    steps = (
        prebuilt.Step("the model", lambda notice: ""),
        prebuilt.Step("the libraries", lambda notice: "no C compiler"),
    )
    monkeypatch.setattr(prebuilt, "STEPS", steps)
    done = call("cache", "build")
    assert done.stdout == f"the model: done\nthe libraries: no C compiler\nin {place.path}\n"
    assert call("cache", "build", "--quiet").stdout == ""


def test_without_a_place_nothing_is_built(call, monkeypatch):
    monkeypatch.setattr(places, "places", lambda: ())
    done = call("cache", "build")
    assert done.exit_code == 2 and "no cache can be written" in done.stderr


def test_a_refused_place_is_said_and_left_alone(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    program = "from lockstep.cli.main import main; main(['cache', 'clear'])"
    environment = {"LOCKSTEP_CACHE_DIR": str(tmp_path / "open"), "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert done.stdout == f"{tmp_path}/lockstep: 0 entries removed\n"
    assert "can be written by others (mode 0777)" in done.stderr

import os
import shutil

import pytest

from lockstep import store
from lockstep.store import content


def make(path):
    (path / "lib.so").write_bytes(b"\x7fELF and so on")
    (path / "notes").write_text("two")
    (path / "link.so").symlink_to("lib.so")


def forbidden(path):
    raise AssertionError("it is there")


def test_a_folder_is_made_once(place):
    first = store.folder("runtime", "key", make)
    assert store.folder("runtime", "key", forbidden) == first
    assert first == place.path / "runtime" / content.file_name("key")
    assert (first / "link.so").read_bytes() == b"\x7fELF and so on"
    assert [file.name for file in first.parent.iterdir()] == [first.name], "nothing else is left"


def test_all_of_a_folder_is_on_the_disk_before_it_takes_its_place(place, monkeypatch):
    waited = []

    def synchronised(descriptor):
        waited.append(os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")))
        assert not (place.path / "runtime" / content.file_name("key")).exists()

    monkeypatch.setattr(os, "fsync", synchronised)
    path = store.folder("runtime", "key", make)
    assert sorted(waited) == sorted(f.name for f in path.iterdir() if not f.is_symlink())


def flip(path):
    data = bytearray((path / "lib.so").read_bytes())
    data[5] ^= 1
    (path / "lib.so").write_bytes(data)


def relink(path):
    (path / "link.so").unlink()
    (path / "link.so").symlink_to("notes")


@pytest.mark.parametrize(
    "damage",
    [
        flip,
        relink,
        lambda path: (path / "lib.so").write_bytes(b""),
        lambda path: (path / "lib.so").unlink(),
        lambda path: (path / "lib.so").chmod(0o777),
        lambda path: (path / "manifest").unlink(),
        lambda path: (path / "manifest").write_bytes(b"LOCKSTEP"),
        lambda path: (shutil.rmtree(path), path.write_text("a file")),
    ],
)
def test_a_damaged_file_is_said_and_the_folder_made_again(place, capsys, damage):
    path = store.folder("runtime", "key", make)
    damage(path)
    assert store.folder("runtime", "key", make) == path
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"lockstep: {path} is damaged and made again: ")
    assert store.folder("runtime", "key", forbidden) == path


def test_a_making_that_fails_leaves_nothing(place):
    with pytest.raises(OSError):
        store.folder("runtime", "key", lambda path: os.mkdir(path / "missing" / "folder"))
    assert not list((place.path / "runtime").iterdir())


def test_another_process_may_be_faster(place):
    def slow(path):
        make(path)
        store.folder("runtime", "key", make)

    path = store.folder("runtime", "key", slow)
    assert store.folder("runtime", "key", forbidden) == path


def test_without_a_place_the_folder_is_this_process_s_own(monkeypatch):
    monkeypatch.setattr(store.places, "places", lambda: ())
    path = store.folder("runtime", "key", make)
    assert (path / "lib.so").exists()
    assert store.folder("runtime", "key", make) == path, "once"

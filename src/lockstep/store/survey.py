"""What lies in a place, and its removal."""

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from lockstep.store import cleaning, entry
from lockstep.store.content import file_name, read_file, reason
from lockstep.store.folder import MANIFEST, check
from lockstep.store.places import KINDS, Place


class Survey(msgspec.Struct):
    """Entries of one kind in one place; why each damaged one is, by its path."""

    entries: int = 0
    size: int = 0  # bytes
    damaged: dict[Path, str] = {}


def survey(place: Place, kind: str) -> Survey:
    """Verify all entries of a kind."""
    found = Survey()
    for path in _ours(place.kind(kind)):
        if not cleaning.is_entry(path.name):  # in the making
            continue
        found.entries += 1
        try:
            found.size += _verify(path, kind)
        except FileNotFoundError:  # another process removed it
            found.entries -= 1
        except (OSError, entry.Damaged) as error:
            found.damaged[path] = reason(error)
    return found


def clear(place: Place) -> int:
    """Remove our files from a place, and nothing else; how many entries there were."""
    count = 0
    for kind in KINDS:
        for path in _ours(place.kind(kind)):
            count += cleaning.is_entry(path.name)
            cleaning.remove(path)
        with suppress(OSError):  # other files are left
            place.kind(kind).rmdir()
    return count


def _ours(folder: Path) -> list[Path]:
    try:
        return sorted(folder / name for name in os.listdir(folder) if cleaning.is_ours(name))
    except OSError:  # there are none of this kind
        return []


def _verify(path: Path, kind: str) -> int:
    """Bytes of an entry, which must have been written for its place."""
    whole = path.is_dir() and not path.is_symlink()
    name, _ = entry.unpack(read_file(path / MANIFEST if whole else path))
    found, _, key = name.partition("/")
    if found != kind or file_name(key) != path.name:
        raise entry.Damaged(f"it is another entry, {name!r}")
    if not whole:
        return path.stat().st_size
    check(path, name)
    return sum(file.lstat().st_size for file in path.iterdir())

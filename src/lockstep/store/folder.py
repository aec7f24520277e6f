"""Folders of files that other programs load by their paths, such as shared libraries."""

import atexit
import functools
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from lockstep.store import cleaning, entry
from lockstep.store.content import file_name, read, read_file, reason
from lockstep.store.places import make as make_place
from lockstep.store.places import say, usable, writable

MANIFEST = "manifest"


def folder(kind: str, key: str, make: Callable[[Path], None]) -> Path:
    """A folder with what ``make`` writes into an empty one, every file verified.

    Where nothing can be kept, the folder is this process's own and goes with it.
    """
    name = f"{kind}/{key}"
    for place in usable():
        path = place.kind(kind) / file_name(key)
        if _verified(path, name):
            return path
    chosen = writable()
    if chosen is None:
        say("no cache can be written, so what is compiled serves this run only")
        return _for_this_process(name, make)
    try:
        make_place(chosen.kind(kind))
        scratch = Path(tempfile.mkdtemp(prefix=f".{file_name(key)}.", dir=chosen.kind(kind)))
    except OSError as error:
        say(f"what is compiled is not kept: {reason(error)}")
        return _for_this_process(name, make)
    try:
        return _keep(scratch, chosen.kind(kind) / file_name(key), name, make)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def has_folder(kind: str, key: str) -> bool:
    """Whether :func:`folder` would find what it needs, every file verified."""
    return any(_verified(place.kind(kind) / file_name(key), f"{kind}/{key}") for place in usable())


def _keep(scratch: Path, path: Path, name: str, make: Callable[[Path], None]) -> Path:
    """Make a folder beside its place and move it there; another process may be faster."""
    content = scratch / "content"
    content.mkdir(0o755)
    make(content)
    _write_manifest(content, name)
    if _verified(path, name):  # another process was faster
        return path
    with suppress(FileNotFoundError):  # what is damaged goes as a whole
        os.rename(path, scratch / "damaged")
    try:
        os.rename(content, path)
    except OSError:
        if not _verified(path, name):
            raise
    return path


@functools.cache
def _for_this_process(name: str, make: Callable[[Path], None]) -> Path:
    path = Path(tempfile.mkdtemp(prefix="lockstep-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    make(path)
    return path


def _write_manifest(path: Path, name: str) -> None:
    """The digest of each file, and where each link leads; all of it reaches the disk."""
    listed = {}
    for file in sorted(path.iterdir()):
        if file.is_symlink():
            listed[file.name] = os.readlink(file)
            continue
        file.chmod(0o755)
        listed[file.name] = _digest(file)
        with file.open("rb") as written:
            os.fsync(written.fileno())
    with (path / MANIFEST).open("wb") as manifest:
        manifest.write(entry.pack(name, msgspec.json.encode(listed)))
        manifest.flush()
        os.fsync(manifest.fileno())


def _digest(file: Path) -> str:
    return hashlib.blake2b(read_file(file), digest_size=32).hexdigest()


def _verified(path: Path, name: str) -> bool:
    """Whether a folder is there and whole; what is damaged is said."""
    if not os.path.lexists(path):
        return False
    try:
        check(path, name)
        cleaning.note_use(path)
    except (OSError, entry.Damaged) as error:
        say(f"{path} is damaged and made again: {reason(error)}")
        return False
    return True


def check(path: Path, name: str) -> None:
    """Raises :class:`entry.Damaged` or OSError if one of a folder's files is not right."""
    listed = msgspec.json.decode(read(path / MANIFEST, name), type=dict[str, str])
    for file, expected in listed.items():
        found = path / file
        if (os.readlink(found) if found.is_symlink() else _digest(found)) != expected:
            raise entry.Damaged(f"the checksum of {file} is wrong")

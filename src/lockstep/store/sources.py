"""Digests of the package's files, and what they import: read again only where a file changed.

Machine code is found by what it was made from, some 500 files. To read and hash them all takes
35 ms of a start of half a second; to ask the file system whether any has changed, 10. As git's
index does, a file is taken for unchanged if its times, size and number are; one that was changed
shortly before it was read is read again, for the clock of the file system stands still meanwhile.
"""

import atexit
import functools
import hashlib
import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from lockstep.store.content import get, put
from lockstep.store.places import writable

PACKAGE = Path(__file__).parents[1]
_ROOT = f"{PACKAGE}{os.sep}"
_IMPORT = re.compile(r"\nfrom lockstep\.?([\w.]*) import (\([^)]*\)|.*)")
_NAME = re.compile(r"\w+")
_STILL = 2 * 10**9  # ns; FAT, the coarsest of file systems, counts in units of 2 s
_KIND, _KEY = "sources", str(PACKAGE)

# Files of the package are told by their paths below it, which are texts: as Path objects they took
# more time than all else that a warm start does to find its machine code.


class Source(msgspec.Struct, array_like=True, frozen=True):
    """What is known about a file; it imports from files of the package."""

    stamp: tuple[int, int, int, int]  # when content and entry changed in ns, bytes, number
    digest: bytes
    imports: tuple[str, ...]


class _Index(msgspec.Struct):
    """What is kept: ``files`` are all that there were, on which it depends what is imported."""

    files: bytes
    sources: dict[str, Source]


_learned: dict[str, Source] = {}


@functools.cache
def source(file: str) -> Source:
    """A file of the package."""
    told = os.stat(_ROOT + file)
    stamp = (told.st_mtime_ns, told.st_ctime_ns, told.st_size, told.st_ino)
    known = _kept().get(file)
    if known is not None and known.stamp == stamp:
        return known
    found = _read(file, stamp)
    if max(stamp[:2]) < time.time_ns() - _STILL:
        _learn(file, found)
    return found


def digest(files: Iterable[str]) -> str:
    """Hash of the contents of files, and of their names."""
    found = hashlib.sha256()
    for file in sorted(files):
        found.update(source(file).digest)
    return found.hexdigest()


def files_in(folder: str, endings: tuple[str, ...] = (".py",)) -> list[str]:
    """The files with such names in a folder of the package, and in those below it."""
    return [f for f in _files() if f.startswith(folder + os.sep) and f.endswith(endings)]


def closure(file: str) -> set[str]:
    """A file, and all files of the package that it imports from, with those they import."""
    found: set[str] = set()
    todo = [file]
    while todo:
        file = todo.pop()
        if file not in found and not file.startswith(f"_jit{os.sep}"):
            found.add(file)
            todo += source(file).imports
    return found


def _read(file: str, stamp: tuple[int, int, int, int]) -> Source:
    with open(_ROOT + file, "rb") as opened:
        content = opened.read()
    files = []
    if file.endswith(".py"):
        for module, names in _IMPORT.findall("\n" + content.decode()):
            inside = module.replace(".", os.sep)
            files += [f"{inside}.py", os.path.join(inside, "__init__.py")]
            files += [os.path.join(inside, f"{name}.py") for name in _NAME.findall(names)]
    made = hashlib.sha256(file.encode() + b"\0" + content).digest()
    return Source(stamp, made, tuple(f for f in dict.fromkeys(files) if f in _files()))


@functools.cache
def _files() -> frozenset[str]:
    """All files of the package."""
    found: list[str] = []
    for path, folders, names in os.walk(PACKAGE):
        folders[:] = [folder for folder in folders if folder != "__pycache__"]
        below = f"{path}{os.sep}"[len(_ROOT) :]
        found += [below + name for name in names]
    return frozenset(found)


@functools.cache
def _all() -> bytes:
    return hashlib.sha256("\0".join(sorted(_files())).encode()).digest()


@functools.cache
def _kept() -> dict[str, Source]:
    """What earlier processes found out."""
    with suppress(msgspec.DecodeError):  # a version before this one kept something else
        index = msgspec.msgpack.decode(get(_KIND, _KEY) or b"", type=_Index)
        if index.files == _all():
            return index.sources
    return {}


def _learn(file: str, found: Source) -> None:
    """Keep what was found out when the process ends: it goes on finding."""
    if not _learned:
        atexit.register(_keep)
    _learned[file] = found


def _keep() -> None:
    if writable():
        index = _Index(_all(), _kept() | _learned)
        put(_KIND, _KEY, msgspec.msgpack.encode(index))

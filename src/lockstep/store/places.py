"""The folders in which entries are kept and looked for."""

import functools
import os
import sys
from pathlib import Path

import msgspec
from platformdirs import user_cache_dir

from lockstep.store import cleaning
from lockstep.store.trust import distrust

VARIABLE = "LOCKSTEP_CACHE_DIR"
KINDS = {
    "model": "machine code of the model",
    "translation": "machine code of kernels",
    "runtime": "the replacement of the CUDA runtime",
    "sources": "digests of the package's files",
    "tables": "tables made of the package's files",
}
"""Each kind of entry has a folder of its name in each place."""
_PRIVATE = 0o755


class Place(msgspec.Struct, frozen=True):
    """One folder of entries. ``refused`` says why it is not used; ``writable`` if it takes more."""

    path: Path
    refused: str | None = None
    writable: bool = False

    def kind(self, name: str) -> Path:
        """The folder of one kind of entry."""
        assert name in KINDS, name
        return self.path / name


@functools.cache
def say(line: str) -> None:
    """One line on stderr, once in a process."""
    print(f"lockstep: {line}", file=sys.stderr, flush=True)


@functools.cache
def places() -> tuple[Place, ...]:
    """All places in the order in which they are searched; those that are refused are said.

    They are those that ``LOCKSTEP_CACHE_DIR`` names, with colons between them. If none of them
    can be written, the user's own follows.
    """
    named = [Path(p) for p in os.environ.get(VARIABLE, "").split(os.pathsep) if p]
    found = [_open(path) for path in named]
    if not any(place.writable for place in found):
        found.append(_open(Path(user_cache_dir("lockstep", False))))
    for place in found:
        if place.refused:
            say(f"the cache {place.path} is not used: {place.refused}")
        elif place.writable and cleaning.is_due(place.path):
            cleaning.clean([place.kind(name) for name in KINDS])
    return tuple(found)


def usable() -> list[Place]:
    """The places that are searched."""
    return [place for place in places() if not place.refused]


def writable() -> Place | None:
    """The place that takes new entries; None if nothing is kept."""
    return next((place for place in places() if place.writable), None)


def _open(path: Path) -> Place:
    try:
        path = Path(os.path.realpath(path))
        make(path)
        wrong = next(filter(None, map(distrust, _folders(path))), None)
        if wrong:
            return Place(path, f"{wrong}; see docs/cache.md, or name another with {VARIABLE}")
        return Place(path, writable=os.access(path, os.W_OK | os.X_OK))
    except OSError as error:
        return Place(path, f"{error.filename or path}: {error.strerror}")


def _folders(path: Path) -> list[Path]:
    """The folder and those of the kinds that it has."""
    return [path, *(path / kind for kind in KINDS if (path / kind).is_dir())]


def make(path: Path) -> None:
    """Make a folder and those above it, which nobody else may write, whatever the umask."""
    if not path.is_dir():
        make(path.parent)
        path.mkdir(_PRIVATE, exist_ok=True)

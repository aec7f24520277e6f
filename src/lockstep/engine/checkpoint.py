"""Checkpoints: the whole state of a simulation between two windows, in one file.

A file is a line that says what it is, a digest of the rest, a manifest (JSON) and pages. The
manifest has what the simulation is of, its plain values, and of each array its type, its shape and
which of its pages hold anything but zeros: those follow, in order. It is written whole or not at
all; who reads it compares everything that the state depends on, by name.
"""

import functools
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from lockstep.errors import InputError
from lockstep.files import replacing
from lockstep.store import sources

NAME = "checkpoint"  # of the file in its folder
MAGIC = b"lockstep checkpoint 1\n"
PAGE = 4096
_LENGTH = 8  # bytes of a length
_NO_STATE = (
    *(ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError),
    *(MemoryError, SyntaxError),
)
"""What reading raises where something else was described."""
_SOURCES = ("_jit", "engine", "gpus", "isa", "model")


KIND = "kind of run"  # a name in identities: of a trace, or of a program


class Keep(Protocol):
    """Keeps states. One rank has it; the others take part when that one wants to save."""

    def due(self) -> bool:
        """Whether it is time to save."""
        ...

    def save(self, frozen: dict) -> None:
        """Save what ``freeze`` gave."""
        ...

    def refuse(self, problem: str) -> None:
        """Learn why a state could not be kept, though it was time."""
        ...


class Keeper:
    """Saves a state every so many seconds; ``identity`` says by name what it depends on.

    ``tell`` is called with a line when a checkpoint cannot be written now.
    """

    def __init__(
        self,
        folder: Path,
        seconds: float,
        identity: dict[str, str],
        tell: Callable[[str], None] | None = None,
    ):
        self.folder, self.seconds, self._identity = folder, seconds, identity
        self._last = perf_counter()
        self._tell = tell
        self._told: set[str] = set()

    def due(self) -> bool:
        """Whether it is time to save."""
        return perf_counter() - self._last >= self.seconds

    def save(self, frozen: dict) -> None:
        """Save a state. If it cannot be written, and somebody can be told, the run goes on."""
        try:
            save(self.folder, self._identity, frozen)
        except InputError as error:
            if self._tell is None:
                raise
            self.refuse(str(error))
        self._last = perf_counter()

    def refuse(self, problem: str) -> None:
        """Say once why nothing is saved."""
        if self._tell and problem not in self._told:
            self._told.add(problem)
            self._tell(problem)


@functools.cache
def source_digest(*more: str) -> str:
    """What the meaning of a state depends on in this version; ``more``: other packages, too."""
    return sources.digest(f for folder in (*_SOURCES, *more) for f in sources.files_in(folder))


def save(folder: Path, identity: dict[str, str], tree: Any) -> None:
    """Write a tree of plain values and arrays that belongs to what ``identity`` says."""
    arrays: list[np.ndarray] = []
    plain = _without_arrays(tree, arrays)
    parts, described = [], []
    for array in arrays:
        used = []
        for first, pages in _pages(array):
            here = np.flatnonzero(pages.any(axis=1))
            used.append(here + first)
            parts.append(pages[here].tobytes())
        kind = array.dtype.descr if array.dtype.names else array.dtype.str
        runs = _runs(np.concatenate(used))
        described.append({"dtype": kind, "shape": array.shape, "pages": runs})
    manifest = {"identity": identity, "tree": plain, "arrays": described}
    text = json.dumps(manifest).encode()
    parts.insert(0, len(text).to_bytes(_LENGTH, "little") + text)
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    with replacing(folder / NAME) as path, open(path, "wb") as file:
        file.write(MAGIC + digest.digest())
        file.writelines(parts)


def load(folder: Path, identity: dict[str, str]) -> Any:
    """The tree that was saved.

    Raises :class:`InputError` if there is none, if it is damaged, or of something else.
    """
    path = folder / NAME
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(path, "", f"cannot read the checkpoint: {error.strerror}") from None
    if not content.startswith(MAGIC):
        raise InputError(path, "", "is no checkpoint of this version of lockstep")
    start = len(MAGIC) + hashlib.sha256().digest_size
    if hashlib.sha256(content[start:]).digest() != content[len(MAGIC) : start]:
        raise InputError(path, "", "the checkpoint is damaged")
    begin = start + _LENGTH
    end = begin + int.from_bytes(content[start:begin], "little")
    try:
        manifest = json.loads(content[begin:end])
        for name, value in identity.items():
            if manifest["identity"].get(name) != value:
                problem = (
                    f"the checkpoint is of another {name}: resume with the one it was written with"
                )
                raise InputError(path, "", problem)
        return _with_arrays(manifest["tree"], _read_arrays(manifest["arrays"], content, end))
    except _NO_STATE:  # its digest fits, but nothing here has written it
        raise InputError(path, "", "the checkpoint describes no state") from None


def cycle_of(folder: Path) -> int | None:
    """The cycle of the checkpoint in a folder; None without one, or with one that is damaged."""
    try:
        with open(folder / NAME, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(len(MAGIC) + hashlib.sha256().digest_size)
            length = int.from_bytes(file.read(_LENGTH), "little")
            tree = json.loads(file.read(min(length, size)))["tree"]
        return int(tree.get("simulation", tree)["plain"]["now"])
    except (OSError, *_NO_STATE):
        return None


def _pages(array: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The number of the first page, and rows of words: whole pages, then one filled with zeros."""
    flat = np.ascontiguousarray(array.view(np.ndarray)).reshape(-1).view(np.uint8)
    whole = len(flat) // PAGE
    yield 0, flat[: whole * PAGE].reshape(whole, PAGE).view(np.uint64)
    last = np.zeros((1, PAGE), np.uint8)
    last[0, : len(flat) - whole * PAGE] = flat[whole * PAGE :]
    yield whole, last.view(np.uint64)


def _runs(used: np.ndarray) -> list[list[int]]:
    """[first, count] of pages in a row."""
    cuts = np.flatnonzero(np.diff(used) > 1) + 1
    return [[int(run[0]), len(run)] for run in np.split(used, cuts) if len(run)]


def _read_arrays(described: list[dict], content: bytes, place: int) -> list[np.ndarray]:
    arrays = []
    for one in described:
        kind = one["dtype"]
        dtype = np.dtype(kind if isinstance(kind, str) else [_field(f) for f in kind])
        size = dtype.itemsize * int(np.prod(one["shape"], dtype=np.int64))
        flat = np.zeros(-(-size // PAGE) * PAGE, np.uint8)
        for first, count in one["pages"]:
            length = count * PAGE
            flat[first * PAGE : first * PAGE + length] = np.frombuffer(
                content, np.uint8, length, place
            )
            place += length
        arrays.append(flat[:size].view(dtype).reshape(one["shape"]))
    return arrays


def _field(described: list) -> tuple:
    """A field of a dtype as NumPy takes it: JSON has no tuples."""
    name, kind, *shape = described
    kind = kind if isinstance(kind, str) else [_field(f) for f in kind]
    return (name, kind, *(tuple(s) for s in shape))


def _without_arrays(tree: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(tree, np.ndarray):
        arrays.append(tree)
        return {"array": len(arrays) - 1}
    if isinstance(tree, dict):
        return {name: _without_arrays(value, arrays) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_without_arrays(value, arrays) for value in tree]
    return tree.item() if isinstance(tree, np.generic) else tree


def _with_arrays(tree: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(tree, dict):
        if set(tree) == {"array"}:
            return arrays[tree["array"]]
        return {name: _with_arrays(value, arrays) for name, value in tree.items()}
    if isinstance(tree, list):
        return [_with_arrays(value, arrays) for value in tree]
    return tree

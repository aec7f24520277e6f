"""What is found out about code once and kept on disk: its translations, and that it was checked.

A run that finds everything here needs nothing of what translates.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from lockstep import store
from lockstep._jit.target import host_key
from lockstep.execution.programs.program import Objects, Program
from lockstep.execution.programs.stored import T, Unreadable, pack, unpack
from lockstep.store import sources


@cache
def _sources() -> str:
    """Hash of the files of ``execution`` and ``isa``, which determine a translation."""
    return sources.digest(sources.files_in("execution") + sources.files_in("isa", (".py", ".toml")))


def _key(parts: tuple) -> str:
    return hashlib.sha256(repr((*parts, host_key(), _sources())).encode()).hexdigest()


def program(parts: tuple, make: Callable[[], Program]) -> Program:
    """The program that ``parts`` identify, made if it was not made before."""
    key = _key(parts)
    found = _get(key, Program)
    if found is not None and all(_is_whole(p.objects) for p in found.parts):
        return found
    made = make()
    store.put("translation", key, pack(made))
    return made


def objects(parts: tuple, make: Callable[[], Objects]) -> Objects:
    """The object code that ``parts`` identify, made if it was not made before."""
    key = _key(("objects", *parts))
    found = _get(key, Objects)
    if found is not None and _is_whole(found):
        return found
    made = make()
    store.put("translation", key, pack(made))
    return made


_routines: dict[str, Objects] = {}


def routine(symbol: str, make: Callable[[], Objects] | None = None) -> Objects:
    """The object code of a routine: a function that the code of many kernels calls.

    ``symbol``: its name there. Without ``make`` it is one that this process has had already.
    """
    if symbol not in _routines:
        _routines[symbol] = objects(("routine", symbol), make)
    return _routines[symbol]


def _is_whole(code: Objects | None) -> bool:
    """Whether all routines that object code calls are there, or can be read."""
    return code is None or all(_is_there(symbol) for symbol in code.routines)


def _is_there(symbol: str) -> bool:
    if symbol not in _routines:
        found = _get(_key(("objects", "routine", symbol)), Objects)
        if found is None or not _is_whole(found):
            return False
        _routines[symbol] = found
    return True


def _get(key: str, kind: type[T]) -> T | None:
    content = store.get("translation", key)
    if content is not None:
        with suppress(Unreadable):  # no other code has the same key: this does not happen
            return unpack(content, kind)
    return None


def once(parts: tuple, check: Callable[[], None]) -> None:
    """Do what raises an error where something is wrong, unless it found nothing before."""
    key = _key(("checked", *parts))
    if store.get("translation", key) is None:
        check()
        store.put("translation", key, b"")

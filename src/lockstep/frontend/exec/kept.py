"""What is found out about code once and kept on disk: its translations, and that it was checked.

A run that finds everything here needs nothing of what translates.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from lockstep import store
from lockstep._jit.loading import host_key
from lockstep.frontend.exec.program import Program
from lockstep.frontend.exec.stored import Unreadable, pack, unpack


@cache
def _sources() -> str:
    """Hash of the package's files that determine a translation."""
    here = Path(__file__).parent
    isa = here.parent.parent / "isa"
    files = [*here.rglob("*.py"), *isa.rglob("*.py"), *isa.rglob("*.toml")]
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _key(parts: tuple) -> str:
    return hashlib.sha256(repr((*parts, host_key(), _sources())).encode()).hexdigest()


def program(parts: tuple, make: Callable[[], Program]) -> Program:
    """The program that ``parts`` identify, made if it was not made before."""
    key = _key(parts)
    content = store.get("translation", key)
    if content is not None:
        with suppress(Unreadable):  # no other code has the same key: this does not happen
            return unpack(content)
    made = make()
    store.put("translation", key, pack(made))
    return made


def objects(key: tuple, make: Callable[[], bytes]) -> bytes:
    """The object code that a key identifies, made if it was not made before."""
    hashed = _key(("objects", *key))
    content = store.get("translation", hashed)
    if content is None:
        content = make()
        store.put("translation", hashed, content)
    return content


def once(parts: tuple, check: Callable[[], None]) -> None:
    """Do what raises an error where something is wrong, unless it found nothing before."""
    key = _key(("checked", *parts))
    if store.get("translation", key) is None:
        check()
        store.put("translation", key, b"")

"""What is made of the package's own files of data, kept: reading it takes a tenth of making it."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeVar

import msgspec

from lockstep.store import sources
from lockstep.store.content import get, put
from lockstep.store.places import writable

T = TypeVar("T")
_KIND = "tables"


def kept(name: str, files: Iterable[str], kind: type[T], make: Callable[[], T]) -> T:
    """What ``make`` gives, a ``kind`` that msgspec encodes; it is made where nothing is kept.

    ``name`` tells it from others, ``files`` of the package (:mod:`lockstep.store.sources`) are all
    that it depends on: the data, and the code that makes it.
    """
    key = f"{name} {sources.digest(files)}"
    content = get(_KIND, key)
    if content is not None:
        with suppress(msgspec.DecodeError):  # a version of msgspec that encodes otherwise
            return msgspec.msgpack.decode(content, type=kind)
    made = make()
    if writable():
        put(_KIND, key, msgspec.msgpack.encode(made))
    return made

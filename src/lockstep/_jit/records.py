"""Arrays of records as compiled functions take them, and as plain Python reads them fast."""

import functools
import operator
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np

from lockstep._jit.settings import DISABLED

_OF_VOID = frozenset(dir(np.void))


class Record(np.void):  # type: ignore[misc]  # final for NumPy's types, whose own np.record does it
    """One record, with fields as attributes: properties of a class for its type of record.

    NumPy's own class for that takes ten times as long, which plain Python spends most of its time
    on. A field that is called like an attribute of ``np.void`` hides it. Classes get their
    properties when one is first wanted: of most types no record is ever looked at.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # the properties of its class can be set

        def __setattr__(self, name: str, value: Any) -> None: ...

    def __getattr__(self, name: str) -> Any:
        if _complete(type(self), self.dtype):
            return getattr(self, name)
        raise AttributeError(f"a record has no field {name!r}")


def _set(record: Record, name: str, value: Any) -> None:
    """``__setattr__`` of a class without its properties: many records are only written."""
    if name not in (record.dtype.names or ()):
        raise AttributeError(f"a record has no field {name!r}")
    record[name] = value


def _complete(kind: type[Record], dtype: np.dtype) -> bool:
    """Give a class its properties; whether it lacked them."""
    if "__setattr__" not in vars(kind):
        return False
    for name in dtype.names or ():
        setattr(kind, name, _field(dtype, name))
    with suppress(AttributeError):  # another thread was faster
        del kind.__setattr__
    return True


class Records(np.ndarray):
    """An array of records, with columns as attributes."""

    if TYPE_CHECKING:  # a part of the axes may be a record or records: as NumPy says it, Any

        @overload  # type: ignore[override]
        def __getitem__(self, key: SupportsIndex | tuple[SupportsIndex, ...], /) -> Any: ...
        @overload
        def __getitem__(self, key: str, /) -> np.ndarray: ...
        @overload
        def __getitem__(self, key: Any, /) -> "Records": ...
        def __getitem__(self, key: Any, /) -> Any: ...
        def reshape(self, *shape: Any, **options: Any) -> "Records": ...

    def __getattr__(self, name: str) -> np.ndarray:
        if name in (self.dtype.names or ()):
            return self[name].view(np.ndarray)
        raise AttributeError(f"records have no field {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in (self.dtype.names or ()):
            self[name] = value
        else:
            super().__setattr__(name, value)


class UnseenRecords(Records):
    """Records of which plain Python has hardly any to look at.

    They have the type for it when one is first looked at. To make that of all arrays of a machine
    would take a tenth of a short run.
    """

    def __getitem__(self, key: Any, /) -> Any:
        if isinstance(key, str | slice):
            return np.ndarray.__getitem__(self, key)
        return self._seen()[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._seen())

    def _seen(self) -> np.ndarray:
        """The same memory, in which records have their type."""
        seen = vars(self).get("seen")
        if seen is None:
            plain = self.view(np.ndarray)
            if self.dtype.names is None:
                seen = plain
            else:
                seen = plain.view(record_type(self.dtype), Records)
            if plain.base is not self:  # a part of others, which would keep itself for its memory
                vars(self)["seen"] = seen
        return seen


def array_type(dtype: np.dtype) -> tuple[type[Records], np.dtype]:
    """The class and the dtype of arrays of records; without JIT plain Python looks at them all."""
    return (Records, record_type(dtype)) if DISABLED else (UnseenRecords, dtype)


def as_records(array: np.ndarray) -> Records:
    """An array of records in memory of its own."""
    kind, dtype = array_type(array.dtype)
    return array.view(dtype, kind)


@functools.cache
def record_type(dtype: np.dtype) -> np.dtype:
    """The type that elements of record arrays have, with fields as attributes."""
    kind = type("Record", (Record,), {"__slots__": (), "__setattr__": _set})
    if not _OF_VOID.isdisjoint(dtype.names or ()):
        _complete(kind, dtype)  # nobody would ask for it
    return np.dtype((kind, dtype))


def _field(dtype: np.dtype, name: str) -> property:
    def put(record: Record, value: Any) -> None:
        record[name] = value

    take, kind = operator.itemgetter(name), dtype[name]
    if kind.kind in "iu" and kind.itemsize < 8:  # as compiled code does
        return property(lambda record: np.int64(take(record)), put)
    if kind.names is None:
        return property(take, put)
    inner = record_type(kind)
    return property(lambda record: take(record).view(inner), put)

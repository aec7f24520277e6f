"""Arrays of records as compiled functions take them, and as plain Python reads them fast."""

import functools
import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np

from lockstep._jit.settings import DISABLED

_OF_VOID = frozenset(dir(np.void))


class Record(np.void):  # type: ignore[misc]  # final for NumPy's types, whose own np.record does it
    """One record, with fields as attributes. NumPy's own class for that takes ten times as long.

    A field that is called like an attribute of ``np.void`` hides it.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            value = self[name]
        except ValueError:
            raise AttributeError(f"a record has no field {name!r}") from None
        return value if type(value) is np.int64 else _as_code_does(value)

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            self[name] = value
        except ValueError:
            if name in (self.dtype.names or ()):
                raise
            raise AttributeError(f"a record has no field {name!r}") from None


def _as_code_does(value: Any) -> Any:
    """What a field holds as compiled code takes it: no narrow integers."""
    if isinstance(value, np.integer) and value.itemsize < 8:
        return np.int64(value)
    return value.view(record_type(value.dtype)) if isinstance(value, np.void) else value


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
    """The type that elements of record arrays have, with fields as attributes.

    Where the model runs in plain Python they get a class for each type of record, with properties,
    which are read in half the time. To make one takes as long as a hundred reads.
    """
    hidden = _OF_VOID.intersection(dtype.names or ())  # nobody would ask for these
    if not (DISABLED or hidden):
        return np.dtype((Record, dtype))
    fields = (dtype.names or ()) if DISABLED else hidden
    properties = {name: _field(dtype[name], name) for name in fields}
    return np.dtype((type("Record", (Record,), {"__slots__": ()} | properties), dtype))


def _field(kind: np.dtype, name: str) -> property:
    take = operator.itemgetter(name)
    if kind.names is None and (kind.kind not in "iu" or kind.itemsize == 8):
        return property(take)
    return property(lambda record: _as_code_does(take(record)))

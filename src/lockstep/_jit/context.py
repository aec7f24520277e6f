"""State that compiled functions share: many arrays behind one pointer."""

import functools
import hashlib
from array import array
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np

from lockstep._jit.kinds import Array, address_of, dtype_of, flags_of, shape_of
from lockstep._jit.settings import DISABLED


class ContextKind:
    """What compiled code knows of a :class:`Context`: its members' kinds, and their places.

    Most kinds of a process are only compared, so all else is found out when it is asked.
    """

    def __init__(self, name: str, fields: tuple[str, ...], kinds: tuple):
        """``kinds``: of the fields, as :func:`_add_words` tells them."""
        self._name, self._fields, self.kinds = name, fields, kinds

    @functools.cached_property
    def members(self) -> dict[str, Any]:
        """The kind of each field."""
        kinds = [Array(*kind) if isinstance(kind, tuple) else kind for kind in self.kinds]
        return dict(zip(self._fields, kinds))

    @functools.cached_property
    def places(self) -> dict[str, int]:
        """The word with which each field begins in the block."""
        places, place = {}, 0
        for field, member in self.members.items():
            places[field] = place
            place += 1 + getattr(member, "ndim", 0)
        return places

    @functools.cached_property
    def _text(self) -> str:
        told = repr([(field, str(member)) for field, member in self.members.items()])
        return f"{self._name}[{hashlib.sha256(told.encode()).hexdigest()[:16]}]"

    def __str__(self) -> str:
        return self._text


class Context:
    """Base of the state that the model's functions share: named arrays, behind one pointer.

    A subclass lists its fields with annotations: NumPy arrays, other contexts, or policies. It
    is made, read and copied like a named tuple. For compiled code it is the address of a block
    that holds the address and shape of each array, so that a call passes one argument however
    much state there is. A named tuple of fifty arrays, which Numba passes as 350 values, took
    four times as long to compile and a millisecond to call from Python.
    """

    _fields: tuple[str, ...] = ()
    _kinds: ClassVar[list[ContextKind]] = []  # of its instances so far

    def __init_subclass__(cls) -> None:
        """Take the fields from the annotations."""
        cls._fields, cls._kinds = tuple(cls.__annotations__), []

    def __init__(self, *values: Any, **named: Any):
        """Take values by position or by name, all of them."""
        fields = self._fields
        if named or len(values) != len(fields):
            named = dict(zip(fields, values, strict=False)) | named
            if named.keys() != set(fields) or len(values) > len(fields):
                raise TypeError(f"{type(self).__name__} takes {', '.join(fields)}")
            values = tuple([named[field] for field in fields])
        self.__dict__.update(zip(fields, values))
        if not DISABLED:
            words: list[int] = []
            kinds = tuple([_add_words(words, value) for value in values])
            self._block = array("q", words)  # no class for each length, as of ctypes
            self._address = self._block.buffer_info()[0]
            self._kind = self._kind_of(kinds)

    @classmethod
    def _kind_of(cls, kinds: tuple) -> ContextKind:
        """One kind for all instances with members of the same kinds.

        There are few of a class. To look for them by a hash would take that of all records.
        """
        found = next((known for known in cls._kinds if known.kinds == kinds), None)
        if found is None:
            found = ContextKind(cls.__qualname__, cls._fields, kinds)
            cls._kinds.append(found)
        return found

    @property
    def kind(self) -> "ContextKind | type[Context]":
        """What the context is to compiled code; without JIT, its class."""
        return type(self) if DISABLED else self._kind

    def __iter__(self) -> Iterator[Any]:
        """The values of the fields, in order."""
        return (getattr(self, f) for f in self._fields)

    def _replace(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        return type(self)(**({f: getattr(self, f) for f in self._fields} | changes))


def _add_words(words: list[int], value: Any) -> Any:
    """Append what the block of a context holds of a field; what tells the member's kind."""
    if isinstance(value, np.ndarray):
        if not flags_of(value).c_contiguous:
            raise TypeError("arrays of a context must be C-contiguous")
        shape = shape_of(value)
        words.append(address_of(value))
        words.extend(shape)
        return dtype_of(value), len(shape)
    if isinstance(value, Context):
        words.append(value._address)
        return value._kind
    words.append(value.address)  # a policy
    return value.kind

"""A function of the model, as compiled code and Python call it."""

import functools
import threading
from array import array
from collections.abc import Callable
from types import FunctionType
from typing import Any, Protocol, cast

from lockstep._jit.kinds import add_words

_entering = threading.RLock()  # threads that call a function first make one entry of it


class MachineCode(Protocol):
    """Machine code: called with words, it gives what the function returns."""

    def block(self, words: list[int]) -> array:
        """Words as a call takes them."""
        ...

    def __call__(self, block: array) -> Any:
        """Call it; the block then holds results."""
        ...


class ModelFunction:
    """A function of the model, compiled when it is called, once for arguments of the same kinds.

    Called from Python it is found in the store, or compiled and put there.
    """

    def __init__(
        self,
        function: Callable[..., object],
        enter: Callable[["ModelFunction", tuple, int], MachineCode],
        forced: bool = False,
    ):
        """``enter`` gives its machine code for arguments of some kinds, of so many words.

        ``forced``: compiled callers contain it even if LLVM would not.
        """
        functools.update_wrapper(self, function)
        self.py_func, self.forced = cast(FunctionType, function), forced
        self._enter = enter
        self._entries: dict[tuple, MachineCode] = {}

    def __call__(self, *arguments: Any) -> Any:
        """Call machine code. The GIL is released meanwhile."""
        entry, words = self._find(arguments)
        return entry(entry.block(words))

    def bind(self, arguments: tuple) -> Callable[[], Any]:
        """A call that is ready: what the arguments hold may change, not where it lies."""
        entry, words = self._find(arguments)
        kept = entry.block(words)
        # The arguments live as long as the function, which is called with their addresses.
        return lambda _arguments=arguments: entry(kept[:])  # type: ignore[misc]

    def _find(self, arguments: tuple) -> tuple[MachineCode, list[int]]:
        words: list[int] = []
        kinds = tuple([add_words(words, argument) for argument in arguments])
        entry = self._entries.get(kinds)
        if entry is None:
            with _entering:
                entry = self._entries.get(kinds) or self._enter(self, kinds, len(words))
                self._entries[kinds] = entry
        return entry, words

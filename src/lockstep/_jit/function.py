"""A function of the model, as compiled code and Python call it."""

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any, cast

from lockstep._jit.kinds import add_words

Entry = Callable[[list[int]], Any]
"""Machine code: called with words, it gives what the function returns."""


class ModelFunction:
    """A function of the model, compiled when it is called, once for arguments of the same kinds.

    Called from Python it is found in the store, or compiled and put there.
    """

    def __init__(
        self,
        function: Callable[..., object],
        enter: Callable[["ModelFunction", tuple, int], Entry],
        forced: bool = False,
    ):
        """``enter`` gives its machine code for arguments of some kinds, of so many words.

        ``forced``: compiled callers contain it even if LLVM would not.
        """
        functools.update_wrapper(self, function)
        self.py_func, self.forced = cast(FunctionType, function), forced
        self._enter = enter
        self._entries: dict[tuple, Entry] = {}

    def __call__(self, *arguments: Any) -> Any:
        """Call machine code. The GIL is released meanwhile."""
        words: list[int] = []
        kinds = tuple([add_words(words, argument) for argument in arguments])
        entry = self._entries.get(kinds)
        if entry is None:
            entry = self._entries[kinds] = self._enter(self, kinds, len(words))
        return entry(words)

"""Telling why a first launch takes long."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

NOTICE = "Translating kernels: this happens once for each; programs of large libraries have many."
LONG = 2.0  # seconds of all kernels so far


class Patience:
    """Counts how long kernels take to translate, and says once that they do."""

    def __init__(self, notice: Callable[[str], None] | None):
        """``notice`` is told."""
        self._notice, self._seconds = notice, 0.0

    @contextmanager
    def translating(self) -> Iterator[None]:
        """A kernel is translated, or found."""
        begin = perf_counter()
        yield
        self._seconds += perf_counter() - begin
        if self._notice is not None and self._seconds > LONG:
            self._notice(NOTICE)
            self._notice = None

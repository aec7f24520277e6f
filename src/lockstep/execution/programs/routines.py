"""The machine code of routines in this process: loaded once, when code that calls it is."""

from collections.abc import Iterable
from threading import RLock

from lockstep._jit.loading import Loaded
from lockstep.execution.programs import kept

_loaded: dict[str, Loaded] = {}
_loading = RLock()


def addresses(symbols: Iterable[str]) -> dict[str, int]:
    """Where routines are, by symbol; ``kept.routine`` has been asked for them."""
    with _loading:
        return {symbol: _load(symbol).address(symbol) for symbol in symbols}


def _load(symbol: str) -> Loaded:
    if symbol not in _loaded:
        objects = kept.routine(symbol)
        (file,) = objects.files  # it is one function
        _loaded[symbol] = Loaded(file.code, file.functions, addresses(objects.routines))
    return _loaded[symbol]

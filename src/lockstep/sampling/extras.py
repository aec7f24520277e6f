"""Libraries that only sampling needs, imported when they are first used."""

import importlib.util
from contextlib import AbstractContextManager
from types import ModuleType

from lockstep.errors import LockstepError


def scipy_stats() -> ModuleType:
    """``scipy.stats``; raises :class:`LockstepError` that says how to get it."""
    return _module("scipy.stats")


def scipy_signal() -> ModuleType:
    """``scipy.signal``; raises as :func:`scipy_stats`."""
    return _module("scipy.signal")


def check_scipy() -> None:
    """Raise as :func:`scipy_stats` would, before a long run that will need it."""
    if importlib.util.find_spec("scipy") is None:
        raise _absent("scipy")


def sklearn(name: str) -> ModuleType:
    """A module of scikit-learn, such as ``cluster``; raises as :func:`scipy_stats`."""
    return _module(f"sklearn.{name}")


def one_thread() -> AbstractContextManager[object]:
    """A context in which libraries add in one order, so that a seed gives one result."""
    return _module("threadpoolctl").threadpool_limits(1)


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise _absent(name.partition(".")[0]) from None


def _absent(name: str) -> LockstepError:
    return LockstepError(f"sampling needs {name}: pip install 'lockstep-gpu[sampling]'")

"""Libraries that only sampling needs, imported when they are first used."""

import importlib
from contextlib import AbstractContextManager
from types import ModuleType

from lockstep.errors import LockstepError


def scipy_stats() -> ModuleType:
    """``scipy.stats``; raises :class:`LockstepError` that says how to get it."""
    return _module("scipy.stats")


def scipy_signal() -> ModuleType:
    """``scipy.signal``; raises as :func:`scipy_stats`."""
    return _module("scipy.signal")


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
        raise LockstepError(
            f"sampling needs {name.partition('.')[0]}: pip install 'lockstep-gpu[sampling]'"
        ) from None

"""Libraries that only sampling needs, imported when they are first used."""

import importlib.util
from contextlib import AbstractContextManager
from types import ModuleType

from lockstep.errors import LockstepError


def student(probability: float, freedom: float) -> float:
    """Student's quantile; raises :class:`LockstepError` that says how to get scipy.

    Of ``scipy.special``, as ``scipy.stats`` has it: that takes a second to import.
    """
    return float(_module("scipy.special").stdtrit(freedom, probability))


def scipy_signal() -> ModuleType:
    """``scipy.signal``; raises as :func:`student`."""
    return _module("scipy.signal")


def check_scipy() -> None:
    """Raise as :func:`student` would, before a long run that will need it."""
    if importlib.util.find_spec("scipy") is None:
        raise _absent("scipy")


def sklearn(name: str) -> ModuleType:
    """A module of scikit-learn, such as ``cluster``; raises as :func:`student`."""
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

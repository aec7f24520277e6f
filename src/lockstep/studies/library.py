"""Which studies there are: each file of ``cases`` has one, as ``STUDY``."""

import pkgutil
from functools import cache
from importlib import import_module

from lockstep.errors import LockstepError, suggestion, unknown
from lockstep.studies import cases
from lockstep.studies.description import Study


@cache
def _all() -> dict[str, Study]:
    modules = sorted(module.name for module in pkgutil.iter_modules(cases.__path__))
    found = [import_module(f"{cases.__name__}.{name}").STUDY for name in modules]
    return {study.name: study for study in found}


def names() -> tuple[str, ...]:
    """The studies, sorted."""
    return tuple(sorted(_all()))


def find(name: str) -> Study:
    """The study of a name; raises :class:`LockstepError` with the nearest ones if there is none."""
    if name not in _all():
        more = "" if suggestion(name, names()) else "; lockstep study --list has them all"
        raise LockstepError(unknown("study", name, names()) + more)
    return _all()[name]

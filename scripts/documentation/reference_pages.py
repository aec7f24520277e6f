"""A page for each public package, of its docstrings."""

import importlib
from functools import cache

from generated_page import GeneratedPage

import lockstep

PACKAGES = (
    "lockstep.plot",
    "lockstep.campaigns",
    "lockstep.correlation",
    "lockstep.sampling",
    "lockstep.proxies",
    "lockstep.caches",
    "lockstep.kernels",
    "lockstep.policies",
    "lockstep.gpus.library",
    "lockstep.studies",
)
"""Beside ``lockstep`` itself: what a user may import from."""


@cache
def pages() -> dict[str, GeneratedPage]:
    """The pages, by their places in the site."""
    first = ["# lockstep", "", "Of `import lockstep`.", ""]
    names = sorted(set(lockstep.__all__) - {"plot"})
    first += [_entry(lockstep, name) for name in names]
    found = {"python/index.md": GeneratedPage("lockstep", "\n".join(first))}
    for package in PACKAGES:
        found[f"python/{package}.md"] = GeneratedPage(package, _page(package))
    return found


def _page(package: str) -> str:
    module = importlib.import_module(package)
    names = getattr(module, "__all__", None) or _own(module)
    objects = [(name, getattr(module, name)) for name in names]
    shown = [name for name, value in objects if callable(value)]
    return "\n".join([f"# {package}", "", *(_entry(module, name) for name in shown)])


def _own(module: object) -> list[str]:
    """The public functions and classes that a module defines."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]


def _entry(module: object, name: str) -> str:
    """A public object, by the name under which it is imported, from where its docstring is."""
    value = getattr(module, name)
    home = f"{value.__module__}.{getattr(value, '__qualname__', name)}"
    return f"::: {home}\n    options:\n      heading: {name}\n      toc_label: {name}\n"

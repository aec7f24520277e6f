"""Type hints of what users call are complete, as ``py.typed`` promises."""

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import lockstep

PACKAGES = ("lockstep", "lockstep.plot", "lockstep.sampling", "lockstep.campaigns",
            "lockstep.studies", "lockstep.caches", "lockstep.proxies", "lockstep.kernels",
            "lockstep.correlation", "lockstep.gpus.library", "lockstep.gpus.systems",
            "lockstep.device")  # fmt: skip
"""What the documentation imports; a package's public names are those of its ``__all__``."""


def public(package: str) -> Iterator[tuple[str, object]]:
    """Functions and classes of a package, by name."""
    module = importlib.import_module(package)
    names = getattr(module, "__all__", None)
    if names is None:
        names = [n for n, x in vars(module).items() if getattr(x, "__module__", "") == package]
    for name in names:
        value = getattr(module, name)
        if not name.startswith("_") and (inspect.isclass(value) or inspect.isfunction(value)):
            yield f"{package}.{name}", value


def functions(name: str, value: object) -> Iterator[tuple[str, object]]:
    """A function; or the methods and properties that a class itself has, and how it is made."""
    if inspect.isfunction(value):
        yield name, value
        return
    for key, member in vars(value).items():
        if key.startswith("_") and key not in ("__init__", "__call__", "__getitem__", "__len__"):
            continue
        for inner in (getattr(member, "fget", None), getattr(member, "func", None), member):
            inner = getattr(inner, "__func__", inner)
            if inspect.isfunction(inner) and inner.__module__.startswith("lockstep"):
                yield f"{name}.{key}", inner
                break


def untyped(name: str, function: object) -> list[str]:
    """Parameters without a type, and the result if it has none."""
    parameters = list(inspect.signature(function).parameters.values())
    if parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    bare = [f"{name}({p.name})" for p in parameters if p.annotation is p.empty]
    if "return" not in function.__annotations__ and not name.endswith("__init__"):
        bare.append(f"{name} ->")
    return bare


@pytest.mark.parametrize("package", PACKAGES)
def test_public_functions_and_methods_say_what_they_take_and_give(package):
    found = [f for name, value in public(package) for f in functions(name, value)]
    assert found, f"{package}: nothing is public"
    assert [bare for name, function in found for bare in untyped(name, function)] == []


def test_a_missing_type_is_found():
    def bare(a, b: int = 3):
        pass

    assert untyped("bare", bare) == ["bare(a)", "bare ->"]


def test_type_checkers_see_every_public_name():
    """What is imported on demand stands under TYPE_CHECKING, too: else it would be ``Any``."""
    tree = ast.parse(Path(lockstep.__file__).read_text())
    [checked] = [n for n in tree.body if isinstance(n, ast.If)]
    seen = {a.asname or a.name for n in checked.body for a in n.names}
    known = {n for n in lockstep.__all__ if not n.startswith("_")} - {"plot"}
    assert known <= seen | {"errors"}, sorted(known - seen)

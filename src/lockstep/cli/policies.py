"""The option ``--policy``: a user's function in a Python file, for one of the model's decisions."""

import importlib.util
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import click

from lockstep.errors import InputError
from lockstep.policies import check_name


class Policy(click.ParamType):
    """``NAME=FILE.py:FUNCTION``; converted to the name and the function."""

    name = "policy"

    def convert(self, value, param, ctx) -> tuple[str, Callable]:
        """Load the function."""
        if isinstance(value, tuple):
            return value
        kind, equals, where = value.partition("=")
        path, colon, function = where.rpartition(":")
        if not (equals and colon and path and function):
            self.fail(f"{value!r}; expected NAME=FILE.py:FUNCTION", param, ctx)
        check_name(kind)
        module = _module(Path(path))
        if not hasattr(module, function):
            raise InputError(path, "", f"has no function {function}")
        return kind, getattr(module, function)


def _module(path: Path) -> ModuleType:
    """What a file defines. Raises :class:`InputError`, in one line, if it cannot be run."""
    if not path.is_file():
        raise InputError(path, "", "no such file")
    name = f"lockstep policy {path}"
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None, "the loader knows its file"
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        loader.exec_module(module)
    except SyntaxError as error:
        raise InputError(path, f"line {error.lineno}", f"is no Python: {error.msg}") from error
    except Exception as error:  # whatever the user's file does
        lines = [
            f.lineno for f in traceback.extract_tb(error.__traceback__) if f.name == "<module>"
        ]
        where = f"line {lines[-1]}" if lines else ""
        message = " ".join(str(error).split())
        raise InputError(path, where, f"{type(error).__name__}: {message}") from error
    return module


def _as_dictionary(ctx: click.Context, parameter: click.Parameter, chosen: tuple) -> dict:
    names = [name for name, _ in chosen]
    for name in names:
        if names.count(name) > 1:
            raise click.BadParameter(f"{name} is given {names.count(name)} times")
    return dict(chosen)


POLICY = click.option(
    "--policy",
    "policies",
    type=Policy(),
    multiple=True,
    callback=_as_dictionary,
    metavar="NAME=FILE.py:FUNCTION",
    help="Let a Python function decide: docs/policies.md.",
)

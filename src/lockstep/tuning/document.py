"""The GPU file: each parameter with its rows; those of the base are left out, and named."""

import json
from collections.abc import Iterator

from lockstep.gpus.fields import flatten
from lockstep.tuning.tuner import Tuned

_PROSE = ("description", "validated")


def to_toml(tuned: Tuned, command: str) -> str:
    """The text of a GPU file. ``command`` says in its first line what makes it."""
    return "\n".join(_lines(tuned, command)) + "\n"


def _lines(tuned: Tuned, command: str) -> Iterator[str]:
    yield f"# Made by: {command}"
    yield f"base = {_text(tuned.base.gpu.name)}"
    if tuned.facts.removed:
        yield f"remove = [{', '.join(map(_text, tuned.facts.removed))}]"
    table = ""
    for path in _order(tuned):
        group, _, name = path.rpartition(".")
        if group != table:
            yield from ("", f"[{group}]")
            table = group
        yield f"{name} = [{_value(tuned.parameters[path])}, {_text(tuned.sources[path])}]"
    if tuned.absent:
        yield from ("", f"# As {tuned.base.gpu.name}, where rows could tell more:")
        yield from (f"# {path}: {why}" for path, why in tuned.absent.items())


def _order(tuned: Tuned) -> list[str]:
    """Parameters of the top first, then tables together, in the order of the specification."""
    place = {path: n for n, path in enumerate(flatten(tuned.gpu("any")))}
    groups: dict[str, list[str]] = {}
    for path in sorted(tuned.sources, key=lambda path: place.get(path, len(place))):
        groups.setdefault(path.rpartition(".")[0], []).append(path)
    return [path for group in groups.values() for path in group]


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)


def _text(text: str) -> str:
    """A basic string of TOML: JSON's escapes are TOML's."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

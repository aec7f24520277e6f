"""Docstrings as Markdown: their roles, such as :class:`.Result`, become code."""

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:\w+:)?\w+:`([^`<]+?)`")
_TITLED = re.compile(r":(?:\w+:)?\w+:`([^`<]+?)\s*<[^`>]+>`")


def markdown(text: str) -> str:
    """The text of a docstring, as Markdown."""
    text = _TITLED.sub(r"`\1`", text)
    text = _ROLE.sub(lambda match: f"`{_shown(match[1])}`", text)
    return re.sub(r"::$", ":", text, flags=re.MULTILINE)


def _shown(target: str) -> str:
    """What a role shows: of ``~a.b`` the last part."""
    return target.rpartition(".")[2] if target.startswith("~") else target.lstrip(".")


class RolesAsCode(griffe.Extension):
    """What mkdocstrings calls for each object that it finds."""

    def on_object(self, *, obj: griffe.Object, **options: Any) -> None:
        """Change its docstring."""
        if obj.docstring:
            obj.docstring.value = markdown(obj.docstring.value)

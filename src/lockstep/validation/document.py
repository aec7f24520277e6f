"""Tables in a Markdown file, renewed in place; the text around them stays as it was."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from lockstep.errors import InputError
from lockstep.metrics.output import write_text

_TABLE = re.compile(r"<!-- table: ([\w -]+) -->\n(.*?)<!-- end -->", re.DOTALL)


class Documented(Protocol):
    """What has tables in documents, such as a comparison: under which key, and their lines."""

    @property
    def key(self) -> str:
        """The name of its place."""

    def markdown(self) -> list[str]:
        """What stands there."""


def keys(text: str) -> list[str]:
    """The comparisons whose tables a text has."""
    return [match[1] for match in _TABLE.finditer(text)]


def renewed(text: str, made_anew: Iterable[Documented]) -> str:
    """The text with the tables of these; those of others stay."""
    made = {each.key: "\n".join(each.markdown()) for each in made_anew}

    def renew(match: re.Match) -> str:
        key = match[1]
        body = f"{made[key]}\n" if key in made else match[2]
        return f"<!-- table: {key} -->\n{body}<!-- end -->"

    return _TABLE.sub(renew, text)


def read(path: Path) -> str:
    """The file's text; raises :class:`InputError` if it has no place for a table."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(path, "", f"cannot read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(path, f"byte {error.start}", "not a text in UTF-8") from error
    if not keys(text):
        raise InputError(path, "", "has no place for a table: <!-- table: KEY --> and <!-- end -->")
    return text


def renew(path: Path, made_anew: Iterable[Documented]) -> None:
    """Renew the tables of a file."""
    write_text(path, renewed(read(path), made_anew))

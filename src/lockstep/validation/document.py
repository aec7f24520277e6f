"""Tables in a Markdown file, renewed in place; the text around them stays as it was."""

import re
from collections.abc import Iterable
from pathlib import Path

from lockstep.errors import InputError
from lockstep.metrics.output import write_text
from lockstep.validation.comparison import Comparison

_TABLE = re.compile(r"<!-- table: ([\w -]+) -->\n(.*?)<!-- end -->", re.DOTALL)


def keys(text: str) -> list[str]:
    """The comparisons whose tables a text has."""
    return [match[1] for match in _TABLE.finditer(text)]


def renewed(text: str, comparisons: Iterable[Comparison]) -> str:
    """The text with the tables of these comparisons; those of others stay."""
    made = {comparison.key: "\n".join(comparison.markdown()) for comparison in comparisons}

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


def renew(path: Path, comparisons: Iterable[Comparison]) -> None:
    """Renew the tables of a file."""
    write_text(path, renewed(read(path), comparisons))

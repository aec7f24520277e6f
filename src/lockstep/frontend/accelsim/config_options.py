"""Option files of GPGPU-Sim and Accel-Sim: ``-name value`` pairs, ``#`` comments, quoted values."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from lockstep.errors import InputError

MAX_BYTES = 1 << 20
_TOKEN = re.compile(r'"([^"]*)"|"|[^\s"]+')
_OPTION = re.compile(r"-[A-Za-z]")


class Option(NamedTuple):
    """One value with the place where it stands."""

    name: str
    value: str
    path: Path
    line: int

    @property
    def place(self) -> str:
        """Where it stands, for people."""
        return f"-{self.name}, {self.path.name}, line {self.line}"

    @property
    def shown(self) -> str:
        """The value as a message can show it: short and printable."""
        short = self.value if len(self.value) <= 60 else self.value[:57] + "..."
        return short if short.isprintable() else repr(short)

    def fail(self, expected: str) -> NoReturn:
        """Raise the :class:`InputError` that the value is not what was expected."""
        message = f"-{self.name} {self.shown}: expected {expected}"
        raise InputError(self.path, f"line {self.line}", message)

    def integer(self) -> int:
        """The value as a number without sign."""
        if not re.fullmatch(r"\d{1,18}", self.value, re.ASCII):
            self.fail("a whole number")
        return int(self.value)

    def integers(self, separator: str, counts: tuple[int, ...] = ()) -> list[int]:
        """The value as numbers; ``counts``: how many there may be, if that is fixed."""
        parts = [part.strip() for part in self.value.split(separator)]
        if (counts and len(parts) not in counts) or not all(
            re.fullmatch(r"\d{1,18}", part, re.ASCII) for part in parts
        ):
            many = " or ".join(map(str, counts)) + " " if counts else ""
            self.fail(f"{many}whole numbers separated by {separator!r}")
        return [int(part) for part in parts]


class Options:
    """The options of a simulation; what is asked for counts as used."""

    def __init__(self, *paths: Path):
        """Read them from one or more files; the last one that gives an option wins."""
        self._options = {option.name: option for path in paths for option in _parse(path)}
        self._used: set[str] = set()

    def get(self, *names: str) -> Option | None:
        """The option of the first of these names that is given."""
        self._used.update(names)
        return next((self._options[name] for name in names if name in self._options), None)

    def integer(self, name: str, default: int) -> int:
        """The number that an option gives, or the default."""
        option = self.get(name)
        return default if option is None else option.integer()

    def flag(self, name: str, default: bool) -> bool:
        """Whether an option is set."""
        return bool(self.integer(name, default))

    def unused(self) -> list[Option]:
        """What nobody asked for, in the order of the files."""
        return [o for o in self._options.values() if o.name not in self._used]


def _parse(path: Path) -> Iterator[Option]:
    name, line = "", 0
    values: list[str] = []
    for number, token in _tokens(path):
        if _OPTION.match(token):
            if name:
                yield Option(name, " ".join(values), path, line)
            name, line, values = token[1:], number, []
        elif not name:
            raise InputError(path, f"line {number}", f"{token[:60]!r}: expected an option, -name")
        else:
            values.append(token)
    if name:
        yield Option(name, " ".join(values), path, line)


def _tokens(path: Path) -> Iterator[tuple[int, str]]:
    """(line, token); a quoted value may run over lines and loses its white space."""
    text = "\n".join(line.partition("#")[0] for line in _read(path).split("\n"))
    line, position = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        if match[0] == '"':
            raise InputError(path, f"line {line}", "a quote is opened and not closed")
        yield line, match[0] if match[1] is None else "".join(match[1].split())


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(path, "", reason) from None
    if len(raw) > MAX_BYTES:
        raise InputError(path, "", f"larger than {MAX_BYTES} bytes: not a configuration")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise InputError(path, f"byte {error.start}", "expected UTF-8 text") from None

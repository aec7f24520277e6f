"""Files of TOML that users write, as GPUs and sweeps; what takes too much to read is refused."""

import re
import tomllib
from pathlib import Path

from lockstep.errors import InputError

MAX_BYTES = 1 << 20
MAX_DEPTH = 32  # tables and lists in each other: more than anything needs
_LONG_KEY = re.compile(
    rb"""(?<![\w."'-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){%d}""" % MAX_DEPTH
)


def read(path: Path, kind: str) -> dict:
    """The content of a file of TOML, a ``kind``.

    Raises :class:`InputError` if there is none, it is no TOML, or larger or deeper than it may be.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise InputError(path, "", f"larger than {MAX_BYTES} bytes: not a {kind}")
        if _LONG_KEY.search(raw):  # what it takes to read one grows with the square of its parts
            raise InputError(path, "", f"not a {kind}: a key of more than {MAX_DEPTH} parts")
        content = tomllib.loads(raw.decode())
    except OSError as error:
        raise InputError(path, "", error.strerror or "cannot be read") from None
    except UnicodeDecodeError as error:
        raise InputError(path, f"byte {error.start}", "expected UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"\(at line (\d+)", str(error))
        message = re.sub(r" \(at .*\)$", "", str(error))
        raise InputError(path, f"line {line[1]}" if line else "the end", message) from None
    except (RecursionError, ValueError) as error:  # deep nesting; integers of thousands of digits
        raise InputError(path, "", f"not a {kind}: {error}") from None
    if _depth(content) > MAX_DEPTH:
        message = f"not a {kind}: tables and lists more than {MAX_DEPTH} deep"
        raise InputError(path, "", message)
    return content


def _depth(content: dict) -> int:
    """How deep tables and lists are nested; what reads them may then call itself."""
    depth = 0
    level: list[dict | list] = [content]
    while level:
        inside = (x.values() if isinstance(x, dict) else x for x in level)
        level = [x for values in inside for x in values if isinstance(x, (dict, list))]
        depth += 1
    return depth

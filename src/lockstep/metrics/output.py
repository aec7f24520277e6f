"""Files of results: written under a temporary name and renamed, so that none is ever half."""

import json
import math
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from lockstep.errors import InputError


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; it takes its place when the block ends well."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise unwritable(path, error) from error
    try:
        yield Path(name)
        os.chmod(name, 0o666 & ~_umask())  # mkstemp makes private files
        os.replace(name, path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        Path(name).unlink(missing_ok=True)


def unwritable(path: str | Path, error: OSError) -> InputError:
    """The one clear line for a file that cannot be written."""
    return InputError(path, "", f"cannot write: {error.strerror or error}")


def write_text(path: str | Path, text: str) -> None:
    """Write a text file, UTF-8."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | Path, document: Any) -> None:
    """Write a JSON file; numbers that are not finite become null."""
    write_text(path, json.dumps(finite(document), indent=1, allow_nan=False) + "\n")


def write_table(path: str | Path, write: Callable[[Path], Any]) -> None:
    """Let a DataFrame's method (``frame.to_parquet``) write a file."""
    with replacing(path) as temporary:
        write(temporary)


def finite(value: Any) -> Any:
    """The same document of plain types, with None for every number that JSON cannot hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

"""Files of results: text, JSON and tables."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from lockstep.files import replacing


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

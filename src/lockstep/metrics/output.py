"""Files of results: text, JSON and tables."""

import importlib.util
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lockstep.errors import LockstepError
from lockstep.files import replacing

if TYPE_CHECKING:
    import pandas

NO_PARQUET = "Parquet needs pyarrow: pip install 'lockstep-gpu[parquet]'"


def write_text(path: str | Path, text: str) -> None:
    """Write a text file, UTF-8."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | Path, document: Any) -> None:
    """Write a JSON file; numbers that are not finite become null."""
    write_text(path, json.dumps(finite(document), indent=1, allow_nan=False) + "\n")


def has_parquet() -> bool:
    """Whether Parquet files can be written: pyarrow is large, and an extra."""
    return importlib.util.find_spec("pyarrow") is not None


def write_csv(path: str | Path, frame: "pandas.DataFrame") -> None:
    """Write a table as CSV."""
    with replacing(path) as temporary:
        frame.to_csv(temporary, index=False)


def write_parquet(path: str | Path, frame: "pandas.DataFrame") -> None:
    """Write a table as Parquet; raises :class:`LockstepError` without pyarrow."""
    if not has_parquet():
        raise LockstepError(f"{path}: {NO_PARQUET}")
    with replacing(path) as temporary:
        frame.to_parquet(temporary, engine="pyarrow", index=False)


def write_table(path: str | Path, frame: "pandas.DataFrame") -> None:
    """Write a table: Parquet if the name ends in .parquet, else CSV."""
    write = write_parquet if Path(path).suffix == ".parquet" else write_csv
    write(path, frame)


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

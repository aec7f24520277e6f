"""JSON files that sampling reads: plans, and results of runs."""

import json
import math
from pathlib import Path
from typing import Any

from lockstep.errors import InputError


def read_document(path: str | Path, what: str) -> Any:
    """The content of a JSON file; raises :class:`InputError` that says it is no ``what``."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        return json.loads(text, parse_float=_number, parse_constant=_number)
    except OSError as error:
        raise InputError(path, "", f"cannot read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(path, "", f"no {what}: {error}") from error


def _number(text: str) -> float:
    """A number of the document; raises :class:`ValueError` of what a JSON file cannot give back."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no finite number")
    return value

"""JSON files that sampling reads: plans, and results of runs."""

import json
from pathlib import Path
from typing import Any

from lockstep.errors import InputError


def read_document(path: str | Path, what: str) -> Any:
    """The content of a JSON file; raises :class:`InputError` that says it is no ``what``."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(path, "", f"cannot read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(path, "", f"no {what}: {error}") from error

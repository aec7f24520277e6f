"""Facts that no row tells: data sheets, counters, guesses, in the format of a GPU file.

``[value, "source"]`` for each parameter, in the tables of a GPU file; ``base`` and ``remove`` too.
A fact is taken before anything is inferred, and in the place of what rows tell.
"""

from pathlib import Path
from typing import NamedTuple

from lockstep.gpus import datafile


class DeviceFacts(NamedTuple):
    """Parameters with their sources by dotted name, and where the GPU begins."""

    values: dict[str, object]
    sources: dict[str, str]
    base: str | None = None
    removed: tuple[str, ...] = ()


NONE = DeviceFacts({}, {})


def read_facts(path: str | Path, known: dict[str, object]) -> DeviceFacts:
    """The facts of a file. ``known``: parameters to suggest where one does not exist.

    Raises :class:`InputError` or :class:`SpecError` as a GPU file does.
    """
    entries = datafile.read_entries(Path(path), known)
    return DeviceFacts(entries.values, entries.sources, entries.base, entries.removed)

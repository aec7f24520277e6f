"""The protocols that are there, read and checked."""

import functools
from pathlib import Path

from lockstep.errors import unknown
from lockstep.model.coherence.check import check
from lockstep.model.coherence.table import Protocol, ProtocolError, parse

FOLDER = Path(__file__).parent / "protocols"


def names() -> tuple[str, ...]:
    """The protocols that are there."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


@functools.cache
def load(name: str) -> Protocol:
    """A protocol by name, checked; raises :class:`ProtocolError`."""
    if name not in names():
        raise ProtocolError(unknown("coherence protocol", name, names()))
    protocol = parse(name, (FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    check(protocol)
    return protocol

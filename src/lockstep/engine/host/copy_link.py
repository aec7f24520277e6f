"""A link of one direction: since when it is free, and what has been on it."""

from typing import Literal

import msgspec

User = Literal["engines", "fabric"]


class LinkRun(msgspec.Struct):
    """What was on one link of a system, in one direction. Times in picoseconds."""

    name: str
    gb_per_s: float
    bytes: int = 0  # of copies and of kernels' accesses, without headers
    packets: int = 0
    busy: int = 0  # picoseconds
    spans: list[tuple[int, int]] = []  # when it was, without gaps

    def utilisation(self, time: int) -> float:
        """Of so many picoseconds, the part in which it was busy."""
        return self.busy / time if time else 0.0


class CopyLink:
    """Who takes it has it until ``free``; ``user`` is who took it last."""

    def __init__(self, run: LinkRun | None = None):
        """``run``: is told what crosses it."""
        self.run, self.free = run, 0
        self.user: User = "engines"

    def take(self, user: User, start: int, time: int, size: int) -> None:
        """Carry bytes of a copy from a moment on, when it is free."""
        self.user, self.free = user, start + time
        if self.run is None:
            return
        run, spans = self.run, self.run.spans
        run.bytes, run.packets, run.busy = run.bytes + size, run.packets + 1, run.busy + time
        if spans and spans[-1][1] == start:
            spans[-1] = (spans[-1][0], self.free)
        else:
            spans.append((start, self.free))

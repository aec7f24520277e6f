"""What a run tells of the host: its calls, the copies, and where the time went."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from lockstep.host_calls import Direction


@dataclass
class CallRun:
    """One call of the host. Times in picoseconds from the beginning of the run."""

    kind: str
    name: str
    start: int
    busy: int  # the host has done its part
    end: int  # it has waited for what it waits for


@dataclass
class CopyRun:
    """One copy. Times in picoseconds from the beginning of the run."""

    direction: Direction
    engine: int  # of that direction, from 0
    stream: int
    address: int
    bytes: int
    start: int
    end: int = 0
    pages: int = 0
    link: int = 0  # of all pages, one after the other: on the link, and its latency both ways
    device: int = 0  # likewise: in the L2 or the DRAM

    @property
    def bandwidth(self) -> float:
        """GB/s from its start to its end."""
        return 1000 * self.bytes / max(1, self.end - self.start)


@dataclass
class HostRun:
    """All of one run."""

    calls: list[CallRun] = field(default_factory=list)
    copies: list[CopyRun] = field(default_factory=list)
    events: dict[int, int] = field(default_factory=dict)  # when each happened last
    end: int = 0  # the host, and all that it asked for, was done

    def parts(self, kernels: Iterable[tuple[int, int, int]]) -> dict[str, int]:
        """Picoseconds of the run by what went on: every moment counts once.

        ``kernels``: launch, start of the first CTA, and end of each, in picoseconds. A kernel
        that runs comes first, then copies, then a launch under way, then the host's own time.
        """
        spans: list[tuple[int, int, int]] = []
        for launched, start, end in kernels:
            spans += [(start, end, 0), (launched, start, 4)]
        spans += [(c.start, c.end, 1 + min(c.direction, Direction.ON_DEVICE)) for c in self.copies]
        spans += [(c.start, c.busy, 5) for c in self.calls]
        return _exclusive(spans, self.end)


PARTS = ("kernels", "copies to the device", "copies to the host", "copies on the device",
         "launches", "host calls", "nothing")  # fmt: skip
"""What :meth:`HostRun.parts` tells apart, the first one that goes on at a moment counts."""


def _exclusive(spans: list[tuple[int, int, int]], end: int) -> dict[str, int]:
    """Time of each part, from 0 to ``end``; spans are (start, end, number of the part)."""
    changes: list[tuple[int, int, int]] = []
    for start, stop, part in spans:
        if stop > start:
            changes += [(start, 1, part), (stop, -1, part)]
    active, found, before = [0] * len(PARTS), [0] * len(PARTS), 0
    active[-1] = 1
    for time, step, part in sorted(changes):
        found[next(k for k, n in enumerate(active) if n)] += time - before
        active[part] += step
        before = time
    found[-1] += max(0, end - before)
    return dict(zip(PARTS, found))

"""What a run tells of the host: its calls, and the copies."""

import msgspec

from lockstep.engine.host.copy_link import LinkRun
from lockstep.host_calls import Direction


class CallRun(msgspec.Struct):
    """One call of the host. Times in picoseconds from the beginning of the run."""

    kind: str
    name: str
    start: int
    busy: int  # the host has done its part
    end: int  # it has waited for what it waits for


class CopyRun(msgspec.Struct):
    """One copy. Times in picoseconds from the beginning of the run."""

    direction: Direction
    engine: int  # of that direction, from 0; -1: a page of managed memory moved
    stream: int
    address: int
    bytes: int
    start: int
    end: int = 0
    pages: int = 0
    link: int = 0  # of all pages, one after the other: on the link, and its latency both ways
    device: int = 0  # likewise: in the L2 or the DRAM
    gpu: int = 0  # which of a system

    @property
    def bandwidth(self) -> float:
        """GB/s from its start to its end."""
        return 1000 * self.bytes / max(1, self.end - self.start)


class PeerRun(msgspec.Struct):
    """A copy between two GPUs. Times in picoseconds from the beginning of the run."""

    source: int  # GPU
    to: int
    stream: int
    bytes: int
    staged: bool  # by way of the host
    start: int
    end: int = 0  # it is written, and acknowledged
    packets: int = 0

    @property
    def bandwidth(self) -> float:
        """GB/s from its start to its end."""
        return 1000 * self.bytes / max(1, self.end - self.start)


class PageCounts(msgspec.Struct):
    """What became of managed memory that migrates."""

    faults: int = 0  # for which a page moved; of several SMs that need one page, one
    migrated_bytes: int = 0  # to the GPU
    returned_bytes: int = 0  # to the host
    remote_accesses: int = 0  # over the link
    thrash: int = 0  # pages that came to the GPU though they had been there before


class HostRun(msgspec.Struct):
    """All of one run."""

    calls: list[CallRun] = []
    copies: list[CopyRun] = []
    events: dict[int, int] = {}  # when each happened last
    end: int = 0  # the host, and all that it asked for, was done
    pages: PageCounts | None = None  # where pages migrate
    peers: list[PeerRun] = []  # copies between GPUs
    links: list[LinkRun] = []  # of a system

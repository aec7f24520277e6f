"""The streams of a launch's CTAs as they come, by their shapes."""

from dataclasses import dataclass, field

import numpy as np

from lockstep.isa.instruction import OpClass
from lockstep.workload import ADDRESS, Cta, Kernel

WAITING = (
    OpClass.BARRIER,
    OpClass.ARRIVE,
    OpClass.FENCE,
    OpClass.LOCAL_FENCE,
    OpClass.COMMIT_GROUP,
    OpClass.WAIT_GROUP,
    OpClass.CACHE_CONTROL,
    OpClass.SLEEP,
    OpClass.CLUSTER_ARRIVE,
    OpClass.CLUSTER_WAIT,
    OpClass.GMMA,
    OpClass.GMMA_ARRIVE,
    OpClass.GMMA_WAIT,
)
"""Classes of sites that access nothing."""


@dataclass(slots=True)
class Shape:
    """CTAs whose warps execute the same instructions under the same masks."""

    warps: np.ndarray  # WARP
    runs: np.ndarray  # RUN
    ctas: list[int] = field(default_factory=list)  # linear numbers
    addresses: list[np.ndarray] = field(default_factory=list)
    pools: list[np.ndarray] = field(default_factory=list)


class LaunchStreams:
    """Keeps the streams of a launch."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel
        self.shapes: dict[tuple[bytes, bytes], Shape] = {}
        self.ctas = 0
        self.records = 0

    def add(self, cta: Cta) -> None:
        """Keep a CTA."""
        key = cta.warps.tobytes(), cta.runs.tobytes()
        shape = self.shapes.get(key)
        if shape is None:
            shape = self.shapes[key] = Shape(cta.warps.copy(), cta.runs.copy())
        x, y, _ = self.kernel.grid
        shape.ctas.append(cta.index[0] + x * (cta.index[1] + y * cta.index[2]))
        shape.addresses.append(cta.addresses.copy())
        shape.pools.append(cta.pool.copy())
        self.ctas += 1
        self.records += len(cta.addresses)


@dataclass(frozen=True, slots=True)
class SiteSequence:
    """What the warps of a shape do, one after the other: an element an execution of a site."""

    warp: np.ndarray
    static: np.ndarray  # index of the instruction
    mask: np.ndarray
    record: np.ndarray  # index of its address record in the CTA, or -1
    gaps: np.ndarray  # index in ``executed`` of each execution
    executed: np.ndarray  # static index of all instructions, warp after warp
    ends: np.ndarray  # where each warp's end there


def sequence(shape: Shape, code: np.ndarray, is_site: np.ndarray) -> SiteSequence:
    """The executions of sites by the warps of a shape; ``is_site``: of each instruction."""
    order = _in_order(shape.warps["first_run"], shape.warps["runs"])
    runs = shape.runs[order]
    counts = runs["count"].astype(np.int64)
    begins = np.cumsum(counts) - counts
    executed = np.repeat(runs["static"] - begins, counts) + np.arange(counts.sum())
    masks = np.repeat(runs["mask"], counts)
    of_run = np.repeat(np.arange(len(shape.warps)), shape.warps["runs"])
    warp = np.repeat(of_run, counts)
    at = np.flatnonzero(is_site[executed] & (masks != 0))
    static = executed[at]
    has = code["width"][static] > 0
    record = np.full(len(at), -1, np.int64)
    record[has] = _in_order(shape.warps["first_address"], shape.warps["addresses"])
    ends = np.cumsum(np.bincount(warp, minlength=len(shape.warps)))
    return SiteSequence(warp[at], static, masks[at], record, at, executed, ends)


def _in_order(first: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The places first..first+count-1 of each warp, one after the other."""
    begins = np.cumsum(counts) - counts
    return np.repeat(first - begins, counts) + np.arange(counts.sum())


def joined(shape: Shape, rows: list[int] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Address records [CTAs, records] of a shape, and the pool that they refer to."""
    chosen = range(len(shape.ctas)) if rows is None else rows
    pools = [shape.pools[i] for i in chosen]
    records = np.concatenate([shape.addresses[i] for i in chosen] or [np.zeros(0, ADDRESS)])
    records = records.reshape(len(pools), -1)
    sizes = np.array([len(pool) for pool in pools], np.int64)
    shift = (np.cumsum(sizes) - sizes)[:, None]
    records["pool"] = np.where(records["pool"] >= 0, records["pool"] + shift, -1)
    return records, np.concatenate([*pools, np.zeros(0, np.int64)])

"""How many sectors, lines and passes accesses took, and how many their bytes need."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from lockstep.advice.observation import Observation
from lockstep.advice.rule import HotSpot

if TYPE_CHECKING:
    import pandas

GLOBAL_WIDTH, SHARED_WIDTH = 8, 16  # bytes of a lane where nobody counted by instruction
MORE_LINES = 2  # times the lines that bytes need: what alignment alone may take
BUSY_L1 = 0.5  # of the cycles of SMs with a CTA: below it loads wait for latencies instead


class AccessTable(msgspec.Struct, frozen=True):
    """Arrays by name, an entry an instruction; one entry for all where nobody counted them."""

    columns: dict[str, np.ndarray]
    rows: "pandas.DataFrame | None"  # what the source view has of the instructions

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def where(self, mask: np.ndarray) -> "AccessTable":
        """Only some of the instructions."""
        rows = None if self.rows is None else self.rows[mask]
        return AccessTable({name: each[mask] for name, each in self.columns.items()}, rows)

    def spot(self, name: str) -> HotSpot | None:
        """The instruction with most of something."""
        return None if self.rows is None else spot_of(self.rows, self[name])


def global_accesses(o: Observation) -> AccessTable:
    """Loads and stores of global memory: an entry an instruction, or one of all of the kernel.

    Columns: ``requests``, ``sectors``, ``lines``, ``sent`` (sectors that the L1 passes on),
    ``needed_sectors``, ``excess`` (sectors beyond those that the bytes fill) and ``scattered``
    (over more lines than alignment explains).
    """
    rows, counts = None, vars(o.sm)
    if o.source is not None:
        rows = o.source
        rows = rows[rows["op"].isin(["load", "store"]) & (rows["requests_global"] > 0)]
        counts = _arrays(rows, _GLOBAL)
    reads, writes = (np.atleast_1d(counts[f"l1_global_{what}_sectors"]) for what in _DIRECTIONS)
    found = counts["l1_global_read_hits"] + counts["l1_global_read_pending"]
    requests, lines = (np.atleast_1d(counts[name]) for name in ("requests_global", "transactions"))
    if rows is None:  # wider accesses may need twice the lines
        size, more = requests * o.lanes_launched * GLOBAL_WIDTH, MORE_LINES + 1
    else:
        size, more = counts["thread_instructions"] * counts["width"], MORE_LINES
    sectors, sent = reads + writes, reads + writes - found
    needed = np.maximum(requests, size / o.gpu.l1.sector_bytes)
    columns = {
        "requests": requests,
        "sectors": sectors,
        "lines": lines,
        "sent": sent,
        "needed_sectors": needed,
        "excess": np.maximum(sectors - needed, 0),
        "scattered": lines > more * np.maximum(requests, size / o.gpu.l1.line_bytes),
    }
    return AccessTable(columns, rows)


def cost(o: Observation, all_of: AccessTable, bad: AccessTable) -> float:
    """What the excess of some of the accesses costs, of the time, from 0 to 1.

    Either it keeps an L1 busy that is busy most of the time, or it goes on to a memory system that
    holds the kernel up. What one access has fetched and others find in the L1 is none of it.
    """
    moved = o.gpu.l1.cycle_sectors * o.active  # by all L1s, at most
    busy = all_of["sectors"].sum() / moved > BUSY_L1
    in_l1 = bad["excess"].sum() / moved if busy else 0.0
    beyond = max(0, bad["sent"].sum() - bad["needed_sectors"].sum()) / max(1, all_of["sent"].sum())
    beyond *= o.memory_bound
    return float(min(1.0, max(in_l1, beyond)))


def shared_accesses(o: Observation) -> AccessTable:
    """Accesses to shared memory likewise: ``passes``, ``needed`` and ``excess``."""
    shared, rows, counts = o.gpu.shared, None, vars(o.sm)
    if o.source is not None:
        rows = o.source[o.source["shared_accesses"] > 0]
        counts = _arrays(rows, _SHARED)
    accesses, passes = (
        np.atleast_1d(counts[name]) for name in ("shared_accesses", "shared_wavefronts")
    )
    if rows is None:
        size = accesses * o.lanes_launched * SHARED_WIDTH
    else:
        size = counts["thread_instructions"] * np.maximum(counts["width"], shared.bank_bytes)
    a_pass = min(shared.banks, shared.pass_lanes) * shared.bank_bytes
    needed = np.maximum(accesses, np.ceil(size / a_pass))
    excess = np.maximum(passes - needed, 0)
    return AccessTable({"passes": passes, "needed": needed, "excess": excess}, rows)


def spot(table: "pandas.DataFrame | None", weight: str) -> HotSpot | None:
    """The instruction with the largest ``weight``; None where nobody counted by instruction."""
    return None if table is None else spot_of(table, table[weight].to_numpy())


def spot_of(rows: "pandas.DataFrame", weights: np.ndarray) -> HotSpot | None:
    """The instruction of some that weighs most."""
    if rows.empty:
        return None
    row = rows.iloc[int(weights.argmax())]
    return HotSpot(str(row["file"]), int(row["line"]), int(row["pc"]), str(row["text"]))


_DIRECTIONS = ("read", "write")
_GLOBAL = (
    "requests_global", "transactions", "thread_instructions", "width", "l1_global_read_sectors",
    "l1_global_read_hits", "l1_global_read_pending", "l1_global_write_sectors",
)  # fmt: skip
_SHARED = ("shared_accesses", "shared_wavefronts", "thread_instructions", "width")


def _arrays(rows: "pandas.DataFrame", names: Sequence[str]) -> dict[str, Any]:
    return {name: rows[name].to_numpy() for name in names}

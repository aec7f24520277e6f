"""How many sectors, lines and passes accesses took, and how many their bytes need."""

from typing import TYPE_CHECKING

import numpy as np

from lockstep.advice.observation import Observation
from lockstep.advice.rule import HotSpot

if TYPE_CHECKING:
    import pandas

GLOBAL_WIDTH, SHARED_WIDTH = 8, 16  # bytes of a lane where nobody counted by instruction
MORE_LINES = 2  # times the lines that bytes need: what alignment alone may take

BUSY_L1 = 0.5  # of the cycles of SMs with a CTA: below it loads wait for latencies instead


def global_accesses(o: Observation) -> "pandas.DataFrame":
    """Loads and stores of global memory: a row an instruction, or one of all of the kernel.

    Columns: ``requests``, ``sectors``, ``lines``, ``sent`` (sectors that the L1 passes on),
    ``needed_sectors``, ``needed_lines``, ``excess`` and ``excess_sent`` (sectors beyond those that
    the bytes fill), ``scattered`` (over more lines than alignment explains) and, of instructions,
    what the source view has.
    """
    import pandas

    l1 = o.gpu.l1
    if o.source is None:
        sm = o.sm
        reads, writes = sm.l1_global_read_sectors, sm.l1_global_write_sectors
        row = {"requests": sm.requests_global, "sectors": reads + writes, "lines": sm.transactions}
        row["sent"] = reads + writes - sm.l1_global_read_hits - sm.l1_global_read_pending
        row["bytes"] = o.sm.requests_global * o.lanes_launched * GLOBAL_WIDTH
        table = pandas.DataFrame([row])
    else:
        rows = o.source
        rows = rows[rows["op"].isin(["load", "store"]) & (rows["requests_global"] > 0)]
        table = rows.assign(
            requests=rows["requests_global"],
            sectors=rows["l1_global_read_sectors"] + rows["l1_global_write_sectors"],
            sent=rows["l1_global_read_sectors"]
            + rows["l1_global_write_sectors"]
            - rows["l1_global_read_hits"]
            - rows["l1_global_read_pending"],
            lines=rows["transactions"],
            bytes=rows["thread_instructions"] * rows["width"],
        )
    for what, size in (("sectors", l1.sector_bytes), ("lines", l1.line_bytes)):
        table[f"needed_{what}"] = np.maximum(table["requests"], table["bytes"] / size)
    table["excess"] = (table["sectors"] - table["needed_sectors"]).clip(lower=0)
    table["excess_sent"] = (table["sent"] - table["needed_sectors"]).clip(lower=0)
    more = MORE_LINES if o.source is not None else MORE_LINES + 1  # wider ones may need twice
    table["scattered"] = table["lines"] > more * table["needed_lines"]
    return table[table["requests"] > 0]


def cost(o: Observation, rows: "pandas.DataFrame", bad: "pandas.DataFrame") -> float:
    """What the excess of some of the rows costs, of the time, from 0 to 1.

    Either it keeps an L1 busy that is busy most of the time, or it goes on to a memory system that
    holds the kernel up. What the L1 has fetched and other accesses find there costs nothing beyond.
    """
    moved = o.gpu.l1.cycle_sectors * o.active  # by all L1s, at most
    busy = rows["sectors"].sum() / moved > BUSY_L1
    in_l1 = bad["excess"].sum() / moved if busy else 0.0
    beyond = bad["excess_sent"].sum() / max(1, rows["sent"].sum()) * o.memory_bound
    return min(1.0, max(in_l1, beyond))


def shared_accesses(o: Observation) -> "pandas.DataFrame":
    """Accesses to shared memory likewise: ``accesses``, ``passes``, ``needed``, ``excess``."""
    import pandas

    shared = o.gpu.shared
    if o.source is None:
        row = {"accesses": o.sm.shared_accesses, "passes": o.sm.shared_wavefronts}
        row["bytes"] = o.sm.shared_accesses * o.lanes_launched * SHARED_WIDTH
        table = pandas.DataFrame([row])
    else:
        rows = o.source[o.source["shared_accesses"] > 0]
        width = rows["width"].clip(lower=shared.bank_bytes)
        table = rows.assign(
            accesses=rows["shared_accesses"],
            passes=rows["shared_wavefronts"],
            bytes=rows["thread_instructions"] * width,
        )
    a_pass = min(shared.banks, shared.pass_lanes) * shared.bank_bytes
    table["needed"] = np.maximum(table["accesses"], np.ceil(table["bytes"] / a_pass))
    table["excess"] = (table["passes"] - table["needed"]).clip(lower=0)
    return table[table["accesses"] > 0]


def spot(table: "pandas.DataFrame | None", weight: str) -> HotSpot | None:
    """The instruction with the largest ``weight``; None where nobody counted by instruction."""
    if table is None or "pc" not in table or table.empty:
        return None
    row = table.iloc[int(table[weight].to_numpy().argmax())]
    return HotSpot(str(row["file"]), int(row["line"]), int(row["pc"]), str(row["text"]))

"""How many sectors, lines and passes accesses took, and how many their bytes need."""

from typing import TYPE_CHECKING

import numpy as np

from lockstep.advice.observation import Observation
from lockstep.advice.rule import Spot

if TYPE_CHECKING:
    import pandas

WIDEST = 16  # bytes of a lane where nobody counted by instruction: no access is accused wrongly


def global_accesses(o: Observation) -> "pandas.DataFrame":
    """Loads and stores of global memory: a row an instruction, or one of all of the kernel.

    Columns: ``requests``, ``sectors``, ``lines``, ``needed_sectors``, ``needed_lines``, ``excess``
    (sectors beyond those that the bytes fill) and, of instructions, what the source view has.
    """
    import pandas

    l1 = o.gpu.l1
    if o.source is None:
        sectors = o.sm.l1_global_read_sectors + o.sm.l1_global_write_sectors
        row = {"requests": o.sm.requests_global, "sectors": sectors, "lines": o.sm.transactions}
        row["bytes"] = o.sm.requests_global * o.lanes_launched * WIDEST
        table = pandas.DataFrame([row])
    else:
        rows = o.source
        rows = rows[rows["op"].isin(["load", "store"]) & (rows["requests_global"] > 0)]
        table = rows.assign(
            requests=rows["requests_global"],
            sectors=rows["l1_global_read_sectors"] + rows["l1_global_write_sectors"],
            lines=rows["transactions"],
            bytes=rows["thread_instructions"] * rows["width"],
        )
    for what, size in (("sectors", l1.sector_bytes), ("lines", l1.line_bytes)):
        table[f"needed_{what}"] = np.maximum(table["requests"], table["bytes"] / size)
    table["excess"] = (table["sectors"] - table["needed_sectors"]).clip(lower=0)
    table["scattered"] = table["lines"] > 2 * table["needed_lines"]
    return table[table["requests"] > 0]


def shared_accesses(o: Observation) -> "pandas.DataFrame":
    """Accesses to shared memory likewise: ``accesses``, ``passes``, ``needed``, ``excess``."""
    import pandas

    shared = o.gpu.shared
    if o.source is None:
        row = {"accesses": o.sm.shared_accesses, "passes": o.sm.shared_wavefronts}
        row["bytes"] = o.sm.shared_accesses * o.lanes_launched * WIDEST
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


def spot(table: "pandas.DataFrame | None", weight: str) -> Spot | None:
    """The instruction with the largest ``weight``; None where nobody counted by instruction."""
    if table is None or "pc" not in table or table.empty:
        return None
    row = table.loc[table[weight].idxmax()]
    return Spot(str(row["file"]), int(row["line"]), int(row["pc"]), str(row["text"]))

"""Predicts an address from the executions of the same instruction before it.

In a regular kernel the n-th execution lies as far from the one before it as in its *twin*, the
same warp slot of an earlier CTA; and the first execution of a warp as far from that of the warp
before. Only what breaks this pattern leaves a residual.
"""

from lockstep._jit import force_inline
from lockstep.frontend.tracefile.rows import LANES, NONE


@force_inline
def enter(w, row, place):
    """Note that ``row`` executes at ``place``: find its twin and its neighbour above."""
    record, warp, cta, slot = place
    if row.warp == warp:
        row.previous_twin = row.twin
        if row.twin != NONE:
            row.twin = w.next[row.twin]
        w.next[row.previous] = record
        return
    row.above = row.above_twin = NONE
    if row.cta == cta:
        row.above, row.above_twin = row.start, row.start_twin
    slot %= LANES  # more slots than that share their twins
    row.twin = row.slot_start[slot]
    row.distance = w.index[cta] - row.slot_index[slot]
    row.start, row.start_twin = record, row.twin
    row.slot_start[slot], row.slot_index[slot] = record, w.index[cta]
    row.warp, row.cta, row.previous = warp, cta, NONE


@force_inline
def expect(w, row):
    """The predicted first address of the record that ``enter`` announced."""
    if row.previous != NONE:
        if row.twin != NONE:
            step = address(w, row.twin) - address(w, row.previous_twin)
            return address(w, row.previous) + step
        return address(w, row.previous) + row.step
    if row.above != NONE and row.twin != NONE and row.above_twin != NONE:
        return address(w, row.twin) + address(w, row.above) - address(w, row.above_twin)
    if row.above != NONE:
        return address(w, row.above) + row.warp_step
    if row.twin != NONE:
        return address(w, row.twin) + row.cta_slope * row.distance
    return row.last


@force_inline
def learn(w, row, record, actual):
    """Remember the differences that ``actual`` shows."""
    w.next[record] = NONE
    if row.previous != NONE:
        row.step = actual - address(w, row.previous)
    elif row.above != NONE:
        row.warp_step = actual - address(w, row.above)
    elif row.twin != NONE and row.distance != 0:
        row.cta_slope = _slope(actual - address(w, row.twin), row.distance)
    row.previous, row.last = record, actual


@force_inline
def _slope(rise, run):
    """Rise over run, rounded down; the run is made positive, since -2**63 // -1 would trap."""
    if run < 0:
        return -rise // -run
    return rise // run


@force_inline
def address(w, record):
    """First address of a record."""
    return w.addresses[record]["first"]

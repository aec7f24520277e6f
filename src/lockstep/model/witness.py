"""What memory operations do, noted in the order in which it happens: who may see which value.

The model carries no data. These notes say where each value is taken from: an SM notes what its L1
looks up, and what comes; a partition notes what its slices carry out. A reader of them can follow
values through the machine (``tests/coherence_twin/timed.py`` does, for tests of memory models).
Nobody is noted unless :meth:`lockstep.engine.machine.Machine.witness` asked for it.
"""

import numpy as np

from lockstep._jit import Context, Records, inline
from lockstep.model.records import records, words, zeros

ANSWERED, ARRIVED = -1, -2
"""Kinds of notes of an SM besides those of requests: data comes for a request; for an access."""
WARP_BITS, CODE_BITS = 8, 24  # of ``who``: the CTA above its warp above the instruction

NOTE = np.dtype(
    words(
        "kind",  # of a request, as in ``link.py``, or ANSWERED, ARRIVED
        "line",
        "tag",  # of the request; ARRIVED: the access
        "who",  # SM, look-up: which instruction; partition: the SM
        "issued",  # cycle at which the request left its SM
        "sectors",  # of the line
        "here",  # look-up: 1 = in the L1; ANSWERED: 1 = the L1 keeps it
    )
)


class Witness(Context):
    """Notes of all SMs, or of all partitions."""

    counts: np.ndarray  # how many there were, rows
    notes: Records  # NOTE, rows x room; no room: nothing is noted


def build(rows: int, room: int = 0) -> Witness:
    """No notes yet."""
    return Witness(zeros(rows), records((rows, room), NOTE))


@inline
def listens(witness):
    """Whether anything is noted."""
    return witness.notes.shape[1] > 0


@inline
def note(witness, row, kind, line, sectors, tag, who, issued, here):
    """Add a note, while there is room."""
    count = witness.counts[row]
    witness.counts[row] = count + 1
    if count < witness.notes.shape[1]:
        to = witness.notes[row, count]
        to.kind, to.line, to.sectors, to.tag = kind, line, sectors, tag
        to.who, to.issued, to.here = who, issued, here

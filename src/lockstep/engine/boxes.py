"""Boxes: where machines of one host leave packets for each other, in memory that all of them have.

There are two boxes from each machine to each other one, used by turns: what lies in one is there
until its owner has given the packet after the next, for which it needs one of everybody else.
"""

import numpy as np

from lockstep._jit import Context, atomic_add, inline, look

TURNS = 2
LINE = 16  # words from one counter to the next: cache lines apart


class Boxes(Context):
    """All boxes of a GPU's machines."""

    words: np.ndarray  # shared: LINE words of each machine, then the boxes
    places: np.ndarray  # TURNS x givers x takers: where a box begins, with its packet's length


def layout(rooms: np.ndarray) -> tuple[np.ndarray, int]:
    """The places of boxes for packets of so many words, givers x takers, and the words of all."""
    machines = len(rooms)
    lines = -(-(rooms + 1) // LINE) * LINE
    ends = machines * LINE + np.cumsum(np.concatenate([lines.reshape(-1)] * TURNS))
    places = np.append(machines * LINE, ends[:-1]).reshape(TURNS, machines, machines)
    return np.ascontiguousarray(places, np.int64), int(ends[-1]) if machines else 0


def nowhere() -> Boxes:
    """Of machines that share no memory."""
    return Boxes(np.zeros(0, np.int64), np.zeros((TURNS, 0, 0), np.int64))


@inline
def post(b: Boxes, machine: int) -> None:
    """A machine has given a packet to everybody else."""
    atomic_add(b.words, machine * LINE, 1)


@inline
def has_posted(b: Boxes, machine: int, packets: int) -> bool:
    """Whether a machine has given so many."""
    return look(b.words, machine * LINE) >= packets

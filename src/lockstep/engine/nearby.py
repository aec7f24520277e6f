"""Machines of one host meet at a window's end: through memory that they share, without Python.

Who waits looks for a while, and then asks Python to wait, which hears signals and notices when one
of the others has died. Machines of several hosts send their packets instead, see ``part.py``.
"""

import time

import numpy as np

from lockstep._jit import Context, Record, Records, call_native, inline, nanoseconds, pause
from lockstep.engine.boxes import TURNS, Boxes, has_posted, nowhere, post
from lockstep.engine.packets import HEADER, pack, unpack
from lockstep.model.control import Control
from lockstep.model.link import Link
from lockstep.model.records import records, words

STOP, CHECKPOINT = 1, 2  # what machines may want, in the header of their packets
LOOKS = 5000  # at what has not come before Python waits: some hundred microseconds
CLOCKS = [getattr(time, name, 0) for name in ("CLOCK_MONOTONIC", "CLOCK_THREAD_CPUTIME_ID")]

MEETING = np.dtype(
    words(
        "machine", "wants_stop", "wants_checkpoint", "agreed", "stopped", "since", "since_busy",
        "worked", "busy", "waited", "exchanges", "words",
    )
)  # fmt: skip
"""Of one machine: its number; whether it wants all to stop, or to write a checkpoint, set from
outside, and whether one wants that and all know it; when it began to work, by both CLOCKS; what it
has done, as in ``RankWork``, in nanoseconds."""


class Nearby(Context):
    """What a machine needs to meet others that share memory with it."""

    boxes: Boxes
    owners: np.ndarray  # groups x shards: machines
    state: Records  # MEETING, one
    header: np.ndarray  # of its packets
    hook: np.ndarray  # one: address of what waits longer; it returns 0 if the packet has come
    noted: np.ndarray  # exchanges, while there is room, x 2: CPU ns before it, ns that it took
    clocks: np.ndarray  # 2


def alone() -> Nearby:
    """Of a machine that meets nobody here."""
    return build(nowhere(), np.zeros((1, 0), np.int64), records(1, MEETING), 0)


def build(
    boxes: Boxes,
    owners: np.ndarray,
    state: Records,
    hook: int,
    noted: np.ndarray | None = None,
) -> Nearby:
    """See :class:`Nearby`."""
    return Nearby(
        boxes,
        owners,
        state,
        np.zeros(HEADER, np.int64),
        np.array([hook], np.int64),
        np.zeros((0, 2), np.int64) if noted is None else noted,
        np.array(CLOCKS, np.int64),
    )


@inline
def begin_work(near: Nearby) -> None:
    """The machine works from now on."""
    own = near.state[0]
    own.since = nanoseconds(near.clocks[0])
    own.since_busy = nanoseconds(near.clocks[1])


@inline
def has_come(near: Nearby, machine: int, packets: int) -> bool:
    """Wait for a machine's packet; false if it will never come."""
    for _ in range(LOOKS):
        if has_posted(near.boxes, machine, packets):
            return True
        pause()
    return call_native(near.hook[0], packets, machine) == 0 and has_posted(
        near.boxes, machine, packets
    )


@inline
def meet(
    near: Nearby, links: tuple[Link, ...], ends: np.ndarray, control: Control, verdict: Record
) -> None:
    """Exchange packets with all others: the verdict then holds what all know."""
    boxes, own = near.boxes, near.state[0]
    mine, machines = own.machine, boxes.places.shape[1]
    met = nanoseconds(near.clocks[0])
    busy = nanoseconds(near.clocks[1]) - own.since_busy
    own.worked += met - own.since
    own.busy += busy
    wants = STOP * own.wants_stop | CHECKPOINT * own.wants_checkpoint
    near.header[0], near.header[1], near.header[2] = verdict.event, verdict.ended, wants
    turn = own.exchanges % TURNS
    for other in range(machines):
        if other != mine:
            place = boxes.places[turn, mine, other]
            packet = boxes.words[place + 1 :]
            length = pack(packet, near.owners, mine, other, links, ends, control, near.header)
            boxes.words[place] = length
            own.words += length
    own.exchanges += 1
    post(boxes, mine)
    for k in range(1, machines):
        other = (mine + k) % machines
        if not has_come(near, other, own.exchanges):
            verdict.stop = 1
            return
        packet = boxes.words[boxes.places[turn, other, mine] + 1 :]
        unpack(packet, near.owners, mine, other, links, ends, control)
        verdict.event = min(verdict.event, packet[0])
        verdict.ended += packet[1]
        wants |= packet[2]
    verdict.stop = own.stopped = wants & STOP
    own.agreed |= wants & CHECKPOINT
    begin_work(near)
    own.waited += own.since - met
    if own.exchanges <= near.noted.shape[0]:
        near.noted[own.exchanges - 1, 0] = busy
        near.noted[own.exchanges - 1, 1] = own.since - met

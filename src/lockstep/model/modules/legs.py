"""How long the parts of a way between modules are, and with them the window of time.

A message that stays on its module takes ``interconnect.latency``, one that goes over n links takes
``modules.hop_latency`` for each of them more. What crosses shards must travel a window at least, so
the way through the crossbar is cut in two, from the shard to its module's router and from the last
router to the other shard; and where the way over a link would be shorter than a third of it and
there is only one, the link gets its part of the crossbar's.
"""

from typing import NamedTuple

from lockstep.gpus.spec import GPU

_PARTS = 3  # of a way with one link


class Legs(NamedTuple):
    """Core cycles of the parts of a way, and the time window."""

    up: int  # from an SM or a partition to its router
    link: int
    down: int
    window: int


def credit_windows(gpu: GPU, crossbar_windows: int) -> int:
    """After how many windows credits come back, so that they take as long as on one chip.

    ``crossbar_windows``: how many of the crossbar's that is. A credit waits for a window's end,
    half of one on average, and then for further ones.
    """
    windows = gpu.interconnect.latency / legs(gpu).window
    return max(1, round((crossbar_windows - 0.5) * windows + 0.5))


def legs(gpu: GPU) -> Legs:
    """The parts of a way between two modules; one module has none."""
    crossbar, hop = gpu.interconnect.latency, gpu.modules.hop_latency
    if gpu.modules.count == 1:
        return Legs(crossbar, crossbar, crossbar, crossbar)
    part = crossbar // _PARTS
    if gpu.modules.topology == "full" and hop < part:
        rest = crossbar + hop - part
        return Legs(rest // 2, part, rest - rest // 2, min(part, rest // 2))
    up = crossbar // 2
    return Legs(up, hop, crossbar - up, min(up, hop))

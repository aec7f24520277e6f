"""The control link: what the CTA scheduler and the SMs tell each other.

What the scheduler sends is there when a window begins, with the cycle in it at which it takes
effect; what SMs send is read when the window has ended. So within a window nobody sees what another
one does, and an SM may be anywhere. Each SM has a place for each kind of message and its number;
who sends clears what was sent before.
"""

import numpy as np

from lockstep._jit import Context, Records
from lockstep.gpus.spec import GPU
from lockstep.model.records import records, words, zeros

LAUNCH = np.dtype(
    words("kernel", "cta", "cycle", "warps", "runs", "addresses", "pool", "cluster", "rank")
)
"""To an SM, which has room: start a CTA of a kernel slot at a cycle. ``warps``, ``runs``,
``addresses`` and ``pool``: where its streams begin; ``cluster``: row of its cluster, or -1."""

ENDED = np.dtype(words("kernel", "cta", "start", "end", "left", "lasted"))
"""From an SM: a CTA has ended, with ``left`` stores still on their way; all its warps together
``lasted`` so many cycles. ``cta`` = STORED: those of all CTAs of the kernel that have ended on this
SM are acknowledged."""
STORED = -1

ARRIVED = np.dtype(words("cluster", "rank", "slot", "came", "awaited", "last", "ended"))
"""From an SM: how many warps of a cluster's CTA, which has a slot there, are at the barrier of the
cluster, how many of them have not ended, when the last one came, and the cycle at which the CTA
ended, or -1."""

OPENING = np.dtype(words("slot", "cycle"))
"""To an SM: the barrier of the cluster of the CTA in a slot opens at a cycle."""


ASK = np.dtype(words("page", "since", "until", "told", "tried"))
"""From an SM: its oldest request, since a cycle, needs a page that the host has, or that has no
home yet; ``page``: its number plus one, 0 = none. Of pages of the host, the engine says that it was
``told``, and from which cycle on the access may go over the link. ``tried``: one more than the last
cycle of this window in which the SM tried in vain, or 0."""


class Control(Context):
    """Messages of a window; first index: the SM."""

    launches: Records  # LAUNCH
    n_launches: np.ndarray
    ended: Records  # ENDED
    n_ended: np.ndarray
    arrived: Records  # ARRIVED, one a CTA
    n_arrived: np.ndarray
    openings: Records  # OPENING
    n_openings: np.ndarray
    asks: Records  # ASK, one an SM


def build(gpu: GPU) -> Control:
    """Nobody has said anything. No SM has more to say than that all its CTAs began and ended."""
    n, ctas = gpu.sm.count, gpu.sm.ctas
    return Control(
        records((n, ctas), LAUNCH),
        zeros(n),
        records((n, 2 * ctas + gpu.launch.concurrent_kernels), ENDED),
        zeros(n),
        records((n, ctas), ARRIVED),
        zeros(n),
        records((n, ctas), OPENING),
        zeros(n),
        records(n, ASK),
    )

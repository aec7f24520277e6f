"""Sampling a program while it runs, or a trace: by a plan, or without a profile, as launches come.

Read ``chooser.py``, then ``follower.py``, ``online.py`` and ``everything.py``, which say what
becomes of each launch, and ``outcome.py``: what is estimated at the end. A device asks them for the
launches of a program, ``trace.py`` for those of a trace.
"""

from lockstep.sampling.running.chooser import Chooser, Warmth
from lockstep.sampling.running.everything import Everything, estimate_all
from lockstep.sampling.running.follower import Follower
from lockstep.sampling.running.online import Online
from lockstep.sampling.running.outcome import SampledRun
from lockstep.sampling.running.trace import SampledTrace

__all__ = [
    "Chooser", "Everything", "Follower", "Online", "SampledRun", "SampledTrace", "Warmth",
    "estimate_all",
]  # fmt: skip

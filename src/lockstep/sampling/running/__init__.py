"""Sampling a program while it runs: by a plan, or without a profile, launch by launch.

Read ``chooser.py``, then ``follower.py``, ``online.py`` and ``everything.py``, which say what
becomes of each launch, and ``outcome.py``: what is estimated at the end.
"""

from lockstep.sampling.running.chooser import Chooser, Warmth
from lockstep.sampling.running.everything import Everything, estimate_all
from lockstep.sampling.running.follower import Follower
from lockstep.sampling.running.online import Online
from lockstep.sampling.running.outcome import SampledRun

__all__ = [
    "Chooser", "Everything", "Follower", "Online", "SampledRun", "Warmth", "estimate_all",
]  # fmt: skip

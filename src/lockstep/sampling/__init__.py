"""Sampled simulation: simulate some launches of a program, estimate all, and say how well.

A :class:`LaunchTable` says what is known of each launch. A :class:`Sampler` makes a :class:`Plan`
of it: strata, and the launches that are simulated. :func:`estimate` makes totals with an interval
of what was observed.

A :class:`Profiler` makes tables of what a device launches, a :class:`TraceProfiler` of a trace,
:func:`.imports.read` of measurements; :func:`compare` puts samplers side by side. A
:class:`PointRecorder` keeps what a plan chooses, to be simulated without the program, and
:func:`write_points` does so of a trace. Read
``table.py``, ``profile.py``, ``plan.py``, ``sampler.py``, ``estimate.py``, then any of
``samplers/``, a file each, and ``comparison.py``. ``running/`` samples a program while it runs,
``inside/`` ends or thins out launches. What level 3 is made of is in ``streams.py`` and
``history.py``.
"""

from lockstep.sampling import samplers
from lockstep.sampling.comparison import compare
from lockstep.sampling.estimate import Estimate, estimate, estimate_ratio, estimates
from lockstep.sampling.plan import Plan
from lockstep.sampling.points import LivePoints, PointRecorder, estimate_points, write_points
from lockstep.sampling.profile import Profiler, TraceProfiler
from lockstep.sampling.sampler import SAMPLERS, Sampler, draw, sampler
from lockstep.sampling.table import LaunchTable

__all__ = [
    "SAMPLERS",
    "Estimate",
    "LaunchTable",
    "LivePoints",
    "Plan",
    "PointRecorder",
    "Profiler",
    "Sampler",
    "TraceProfiler",
    "compare",
    "draw",
    "estimate",
    "estimate_points",
    "estimate_ratio",
    "estimates",
    "sampler",
    "samplers",
    "write_points",
]

"""Inside a launch: when enough of it has run, and what the rest would take.

``windows.py`` leaves CTAs out of a launch, wave by wave, and runs its beginning, its end, and parts
between: the default. ``stability.py`` (PKP) ends it when its IPC has settled, ``durations.py``
(Photon) when warps, or basic blocks (``blocks.py``), last as long as others: ``warps.py`` says
what is left; ``epochs.py`` (TBPoint) leaves out what is like what
ran. ``projection.py`` estimates from what ran, ``deviation.py`` how far off that may be;
``doubling.py`` corrects such estimates by launches that ran twice, short and to the end.
``trajectory.py`` looks on: IPC over time.
"""

from lockstep.sampling.inside.doubling import Correction, correct
from lockstep.sampling.inside.durations import LEVELS, PLACES, Durations, Lasting
from lockstep.sampling.inside.epochs import Epochs
from lockstep.sampling.inside.projection import (
    Projection,
    cta_instructions,
    project,
    project_durations,
    project_windows,
    trace_instructions,
)
from lockstep.sampling.inside.stability import Stability, Stable
from lockstep.sampling.inside.trajectory import Trajectory
from lockstep.sampling.inside.windows import RAMP, Unit, Windows

__all__ = [
    "LEVELS",
    "PLACES",
    "RAMP",
    "Correction",
    "Durations",
    "Epochs",
    "Lasting",
    "Projection",
    "Stability",
    "Stable",
    "Trajectory",
    "Unit",
    "Windows",
    "correct",
    "cta_instructions",
    "project",
    "project_durations",
    "project_windows",
    "trace_instructions",
]

"""Inside a launch: when enough of it has run, and what the rest would take.

``windows.py`` leaves CTAs out of a launch, wave by wave, and runs its beginning, its end, and parts
between: the default. ``stability.py`` (PKP) ends it when its IPC has settled, ``durations.py``
(Photon) when warps, or basic blocks (``blocks.py``), last as long as others; ``warps.py`` says what
is left. ``epochs.py`` (TBPoint) leaves out what is like what ran. ``evidence.py`` is what they have
seen; ``projection.py`` estimates from that, ``deviation.py`` how far off it may be. A rule serves
all launches of a run in ``launches.py``, and ``doubling.py`` corrects its estimates by launches of
which both are known, short and to the end; ``choice.py`` reads such a rule from a text.
``trajectory.py`` looks on: IPC over time.
"""

from lockstep.sampling.inside.doubling import Correction, correct
from lockstep.sampling.inside.durations import LEVELS, Durations
from lockstep.sampling.inside.epochs import Epochs
from lockstep.sampling.inside.evidence import Lasting, Stable, Unit
from lockstep.sampling.inside.launches import PAIRS, Inside, Projected
from lockstep.sampling.inside.projection import (
    PLACES,
    Projection,
    cta_instructions,
    project,
    project_durations,
    project_windows,
    trace_instructions,
)
from lockstep.sampling.inside.stability import Stability
from lockstep.sampling.inside.trajectory import Trajectory
from lockstep.sampling.inside.windows import RAMP, Windows

__all__ = [
    "LEVELS",
    "PAIRS",
    "PLACES",
    "RAMP",
    "Correction",
    "Durations",
    "Epochs",
    "Inside",
    "Lasting",
    "Projected",
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

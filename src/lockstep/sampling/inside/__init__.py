"""Inside a launch: when enough of it has run, and what the rest would take.

``stability.py`` ends a launch when its IPC has settled; ``windows.py`` leaves CTAs out of it, wave
by wave, and runs its beginning, its end, and parts between; ``projection.py`` estimates from what
ran; ``doubling.py`` corrects such estimates by launches that ran twice, short and to the end.
"""

from lockstep.sampling.inside.doubling import Correction, correct
from lockstep.sampling.inside.projection import (
    Projection,
    project,
    project_windows,
    trace_instructions,
)
from lockstep.sampling.inside.stability import Stability, Stable
from lockstep.sampling.inside.windows import Unit, Windows

__all__ = [
    "Correction",
    "Projection",
    "Stability",
    "Stable",
    "Unit",
    "Windows",
    "correct",
    "project",
    "project_windows",
    "trace_instructions",
]

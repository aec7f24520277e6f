"""Inside a launch: when enough of it has run, and what the rest would take.

``stability.py`` ends a launch when its IPC has settled; ``projection.py`` estimates from what ran;
``doubling.py`` corrects such estimates by launches that ran twice, short and to the end.
"""

from lockstep.sampling.inside.doubling import Correction, correct
from lockstep.sampling.inside.projection import Projection, project, trace_instructions
from lockstep.sampling.inside.stability import Stability, Stable

__all__ = [
    "Correction",
    "Projection",
    "Stability",
    "Stable",
    "correct",
    "project",
    "trace_instructions",
]

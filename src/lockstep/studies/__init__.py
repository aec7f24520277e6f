"""Case studies: what detail of the memory system changes in conclusions, after published papers.

A reading order: ``description`` is what a study is made of, ``cases`` has the studies, one file
each, ``library`` finds them, ``runner`` runs ``programs`` (``code``) on variants of GPUs, ``rows``
are what is kept of it, ``outcome`` and ``claims`` what follows, ``report`` and ``plots`` show it.
``candel`` and ``chiplets`` have what the studies after one paper share.
"""

from lockstep.studies.library import find, names
from lockstep.studies.outcome import Outcome
from lockstep.studies.runner import study

__all__ = ["Outcome", "find", "names", "study"]

"""The affine model: sites, functions of the place in the grid, and loops of what warps do.

``tables.py`` says what it is kept as, ``programs.py`` unfolds loops, ``coding.py`` makes
instructions, ``templates.py`` what all CTAs of a shape have in common, ``moving.py`` gives a CTA
other lines than the one that stands for it, ``generate.py`` makes CTAs, and ``model.py`` is all of
it as a kind of model.
"""

from lockstep.frontend.proxy.affine.model import AffineModel
from lockstep.frontend.proxy.affine.tables import COLUMNS, Tables

__all__ = ["COLUMNS", "AffineModel", "Tables"]

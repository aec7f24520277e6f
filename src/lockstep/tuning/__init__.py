"""A GPU file from the output of the microbenchmark suite.

Read ``rows.py`` (what is measured), ``facts.py`` (what no row tells), ``measured.py`` (how rows are
looked up), ``inference.py`` and ``inferences/`` (which parameter comes from which rows),
``tuner.py`` (direct ones, over ``base.py``), ``fit.py`` and ``simulation.py`` (fitted ones),
``document.py`` (the file), ``report.py``.
"""

from lockstep.tuning.rows import Row, Rows, read_rows
from lockstep.tuning.tuner import Tuned, infer

__all__ = ["Row", "Rows", "Tuned", "infer", "read_rows"]

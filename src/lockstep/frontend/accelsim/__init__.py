"""Accel-Sim's traces of real GPU programs: read in all their versions, and written.

``reader.py`` opens what there is: a ``kernelslist.py``, and traces as ``traceg.py``, ``tracez.py``
or ``raw.py`` (with ``partition.py``) have them, in bytes from ``source.py``. ``header.py``,
``blocks.py``, ``collecting.py``, ``sections.py``, ``line.py`` with ``heads.py`` and
``addresses.py``: the text from the outside in, by ``parser.py`` and ``scan.py``; ``statics.py``:
the code that it reveals; ``problems.py``: what is wrong with it. ``writer.py`` with ``text.py``
and ``operands.py`` writes. ``config.py`` and the ``config_*.py`` beside it read configurations of
GPUs.
"""

from lockstep.frontend.accelsim.reader import load, trace_files
from lockstep.frontend.accelsim.writer import write

__all__ = ["load", "trace_files", "write"]

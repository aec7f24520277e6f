"""A streaming multiprocessor (SM): what of a core is its own, see ``model/core`` for the rest.

``sm.py``: a window of cycles; ``launch.py``: the start of CTAs. Then along an instruction's way:
``scheduler.py``, ``eligibility.py`` and ``issue.py`` with ``dependence.py``, ``operands.py`` and
``write_ports.py``, and ``completion.py``.
"""

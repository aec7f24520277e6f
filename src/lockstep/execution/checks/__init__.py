"""Checks of what kernels do: accesses outside memory, reads of what nobody wrote, races.

``kinds.py`` names them; ``shadow.py`` and ``unwritten.py``: what was written; ``clocks.py`` and
``races.py``: what is ordered; ``state.py`` and ``launch.py``: what a launch keeps for it;
``record.py`` and ``findings.py``: what was found, and how it is told.
"""

"""A kernel as a program: its blocks as machine code, and what the scheduler knows of them.

``translation.py`` makes a ``program.py`` from lifted blocks; ``native.py`` compiles, with
``assemblers.py`` in other processes, too; ``kept.py`` and ``stored.py`` keep it on disk,
``code.py`` and ``routines.py`` load it. ``profile.py`` and ``counted.py``: what is counted of a
run; ``steps.py`` and ``overtaking.py``: where time and other warps matter.
"""

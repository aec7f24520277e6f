"""Which block of which group of lanes runs next; compiled, and the same for all instruction sets.

``schedule.py`` first, on ``groups.py``, ``masks.py`` and ``machine.py``; ``endings.py``,
``convergence.py`` and ``barriers.py`` say where lanes go at a block's end, ``looks.py`` whether
those get on that turn in loops, ``start.py`` where CTAs begin.
"""

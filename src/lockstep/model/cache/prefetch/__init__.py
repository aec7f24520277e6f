"""Prefetchers: lines that a cache asks for before anybody wants them.

Read ``table.py`` first: what a policy is given, keeps and answers. The built-in policies are plain
functions of the same kind as a user's, over the same table: ``stride.py`` of an L1, ``stream.py``
of an L2 slice; ``registry.py`` has their names. ``state.py`` has what a cache keeps beside: the
queue of lines asked for, and which of its ways hold a line that nobody has used yet. How a cache
asks the level below is its own business, and comes after all demand:
``model/cache/l1_prefetch.py`` and ``model/cache/l2_prefetch.py``.
"""

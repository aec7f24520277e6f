"""Caches: what they share, and each of them. No cache knows the core that owns it.

Shared are ``tags.py`` (what is where), ``replacement.py`` (which way goes) and ``slice_hash.py``
(which set, which slice); ``protocols/`` say what happens to a line, ``prefetch/`` what is asked for
before anybody wants it. Instructions and constants lie in ``line_cache.py``, and ``line_misses.py``
is what it asks the L2 for. Of an L1: ``l1_state.py``, ``l1.py`` (loads, stores, atomics),
``l1_banks.py``, ``mshr_file.py``, ``miss_queue.py`` and ``l1_fill.py``; some have
``l1_waiting.py`` and ``l1_prefetch.py``. Of a slice of the L2: ``l2.py``, ``l2_room.py``,
``l2_stalls.py``, ``mshr_ways.py``, ``l2_fill.py``, ``data_port.py``, then what only some GPUs have:
``l2_sides.py``, ``neighbours.py``, and ``l2_prefetch.py`` with ``l2_lines.py``.
"""

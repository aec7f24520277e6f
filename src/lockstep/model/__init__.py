"""The GPU: what its units keep, and how each goes through time. No files, texts or Python objects.

Functions are short, and compiled (``_jit``); state is flat arrays of records, one dtype beside each
unit. Read first ``records.py`` and ``clock.py``, then ``link.py`` and ``control.py``, through which
units reach each other. ``sm/``: streaming multiprocessors with their L1; ``partition.py`` and
``memory.py``: memory partitions, with ``cache/`` and ``dram/`` below; ``dispatch/``: the CTA
scheduler; ``counters.py``: what all of them count.

Arguments have the same names everywhere: ``c`` is the state of the unit's kind, ``m`` that of the
memory side, ``d`` that of the CTA scheduler, or a divisor, ``s`` an SM and so its L1, ``b`` one of
its sub-cores, ``w`` a warp slot, ``a`` an access, ``p`` a partition, ``i`` one cache of several,
``e`` an entry, ``k`` and ``n`` numbers in a list, ``now`` the core cycle.
"""

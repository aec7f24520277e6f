"""The GPU: what its units keep, and how each goes through time. No files, texts or Python objects.

Functions are short, and compiled (``_jit``); state is flat arrays of records, one dtype beside each
unit. Read first ``records.py`` and ``clock.py``, then ``link.py`` and ``control.py``, through which
units reach each other. ``sm/``: streaming multiprocessors, ``cu/``: compute units, ``core/``: what
both have; ``cache/``: L1s and L2 slices; ``partition.py`` and ``memory.py``: memory partitions,
with ``dram/`` below; ``dispatch/``: the CTA scheduler; ``counters.py``: what all of them count.
Then what only some GPUs and runs have: ``coherence/`` with ``coherent_partition.py``, ``modules/``,
``warming/`` with ``contents.py``, ``outside.py``, ``policy.py`` and ``witness.py``.

Arguments have the same names everywhere: ``c`` is the state of the unit's kind, ``m`` that of the
memory side, ``d`` that of the CTA scheduler, or a divisor, ``s`` an SM and so its L1, ``b`` one of
its sub-cores, ``w`` a warp slot, ``a`` an access, ``p`` a partition, ``i`` one cache of several,
``e`` an entry, ``k`` and ``n`` numbers in a list, ``now`` the core cycle.
"""

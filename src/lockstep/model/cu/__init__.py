"""A compute unit of the first GCN generation: what of a core is its own, see ``model/core``.

``cu.py``: a window of cycles of the CUs that share caches; ``launch.py``: the start of work-groups.
Then along an instruction's way: ``fetch.py``, ``scheduler.py``, ``issue.py`` with ``waits.py``,
``lds.py``, ``scalar_cache.py`` and ``vector_memory.py``, ``port.py`` with ``line_fill.py``, and
``completion.py``.
"""

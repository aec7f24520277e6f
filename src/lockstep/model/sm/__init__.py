"""A streaming multiprocessor (SM), its L1 aside.

``state.py``: what it keeps; ``sm.py``: a window of cycles; ``cta.py`` and ``stream.py``: where
warps and their instructions come from. Then along an instruction's way: ``fetch.py``,
``scheduler.py``, ``issue.py`` with ``dependence.py``, ``operands.py`` and ``write_ports.py``,
``memory_pipeline.py`` with ``coalescer.py``, ``shared_memory.py``, ``constant.py``, ``bulk.py`` and
``tile.py``, ``port.py``, ``done.py`` and ``stores.py``. ``barrier.py``, ``objects.py`` and
``cluster.py``: who waits for whom; ``accounting.py``: why nothing issued; ``between.py``: what is
done to all SMs between two windows. ``bind.py`` and ``build.py`` make records from code and a GPU's
parameters.
"""

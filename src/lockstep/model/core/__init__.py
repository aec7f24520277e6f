"""What every core has, whatever issues its instructions: state, CTAs, fetch and the way to memory.

``state.py``: what it keeps; ``launch.py``, ``cta.py`` and ``stream.py``: where warps and their
instructions come from; ``warp.py``: what is told of them. ``fetch.py``; ``memory_queue.py`` and
``memory_pipeline.py`` with ``coalescer.py``, ``shared_memory.py``, ``constant.py``, ``bulk.py`` and
``tile.py``; ``port.py`` with ``paging.py``, ``done.py``, ``stores.py``; ``l1_words.py``: when the
words of loads are read. ``barrier.py``,
``objects.py`` and ``cluster.py``: who waits for whom; ``releases.py``: scopes; ``accounting.py``:
why nothing issued; ``attribution.py``: what each instruction did; ``between.py``: what is done to
all cores between two windows. ``bind.py`` and ``build.py`` make records from code and a GPU's
parameters.
"""

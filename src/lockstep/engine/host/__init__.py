"""The host in time: its calls, its streams, and copies over the link to the GPU.

Read ``host.py`` first, then ``seat.py``, a GPU's place there, and ``engines.py``; ``fabric.py`` has
the links between GPUs of a system, each a ``copy_link.py``; ``costs.py`` has the times of single
things, and ``record.py`` is what a run tells of it. Times are picoseconds from the beginning of the
run.
"""

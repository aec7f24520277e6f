"""The host in time: its calls, its streams, and copies over the link to the GPU.

Read ``host.py`` first, then ``engines.py``; ``costs.py`` has the times of single things, and
``record.py`` is what a run tells of it. Times are picoseconds from the beginning of the run.
"""

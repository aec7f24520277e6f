"""What a kernel leaves behind in the caches, without its time.

``walk.py`` takes a kernel's CTAs through the GPU, in turns, where the CTA scheduler would place
them; ``stream.py`` takes one warp along its stream, to its instruction lines, constants and
accesses; ``sm.py`` brings an access through the SM's L1, ``l2.py`` what it misses through the L2.
All of it works on the state of the simulation, by the same functions wherever these know no time,
and nothing runs meanwhile. ``state.py``: what the walk itself keeps. ``passing.py`` is for CTAs
that are left out of a launch that goes on: it knows the L2 alone. ``placed.py``: what launches
that are not there have left in instruction caches.
"""

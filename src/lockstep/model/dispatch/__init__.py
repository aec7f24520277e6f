"""The CTA scheduler: which SM runs which thread block, and when barriers of clusters open.

It knows of the SMs what they tell (``model/control.py``), nothing else. ``state.py``: what it
keeps; ``dispatcher.py``: CTAs go to SMs and come back; ``clusters.py``: barriers of clusters;
``gpc.py``: which SMs are neighbours.
"""

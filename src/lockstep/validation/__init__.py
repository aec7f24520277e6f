"""The published validation: lockstep beside what was measured on GPUs, and beside a peer.

``sections`` makes the comparisons (``comparison``) with kernels of ``probes`` and ``grids`` and the
numbers in ``measured``; ``table8`` runs a user's builds of programs that Accel-Sim published;
``document`` writes the tables of docs/validation.md.
"""

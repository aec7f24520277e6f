"""The published validation: lockstep beside what was measured on GPUs, and beside a peer.

``sections`` makes the comparisons (``comparison``) with kernels of ``probes`` and ``grids`` and the
numbers in ``measured``; ``builtins``, ``triton`` and ``table8`` run (``runs``) builds of the
built-in programs, kernels that Triton compiled (in ``pytorch_memory``), and the programs that
Accel-Sim published;
``document`` writes the tables of docs/validation.md.
"""

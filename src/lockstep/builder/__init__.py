"""Workloads written by hand: probes, examples, benchmarks, and ideas in a notebook.

``kernel.py`` is what users call, ``patterns.py`` the addresses that they name, ``expansion.py``
what becomes of both: the streams of CTAs.
"""

from lockstep.builder.kernel import KernelBuilder, program
from lockstep.builder.patterns import Site

__all__ = ["KernelBuilder", "Site", "program"]

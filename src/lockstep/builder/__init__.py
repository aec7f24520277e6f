"""Workloads written by hand: probes, examples, benchmarks, and ideas in a notebook."""

from lockstep.builder.kernel import KernelBuilder, program
from lockstep.builder.patterns import Site

__all__ = ["KernelBuilder", "Site", "program"]

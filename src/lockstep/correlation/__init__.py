"""Results beside measurements: launches are matched, counters compared, and errors summed up.

A reading order: ``launches`` is what both sides are read into, ``hardware`` (with ``csvfile``,
``nsight``, ``nvprof`` and ``tables``) and ``results`` read them, ``kernels`` says which kernel's
name is which, ``matching`` pairs launches, ``comparison`` is what comes out, with ``statistics``;
``report``, ``plots`` and ``page`` show it.
"""

from lockstep.correlation.comparison import Correlation, correlate
from lockstep.correlation.hardware import read_hardware
from lockstep.correlation.launches import Launch
from lockstep.correlation.results import read_result
from lockstep.correlation.statistics import Statistics, relative_error

__all__ = [
    "Correlation",
    "Launch",
    "Statistics",
    "correlate",
    "read_hardware",
    "read_result",
    "relative_error",
]

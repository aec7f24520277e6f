"""Accel-Sim's traces of real GPU programs: read in all their versions, and written."""

from lockstep.frontend.accelsim.reader import load, trace_files
from lockstep.frontend.accelsim.writer import write

__all__ = ["load", "trace_files", "write"]

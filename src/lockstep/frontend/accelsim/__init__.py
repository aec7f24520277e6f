"""Accel-Sim's traces of real GPU programs: read in all their versions, and written."""

from lockstep.frontend.accelsim.reader import load

__all__ = ["load"]

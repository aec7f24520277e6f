"""Running CUDA programs: the calls that they make, executed on a device of lockstep's."""

from lockstep.runtime.program import ProgramEnd, run_program
from lockstep.runtime.simulator import Simulator

__all__ = ["ProgramEnd", "Simulator", "run_program"]

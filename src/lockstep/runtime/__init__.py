"""Running CUDA programs: the calls that they make, executed on a device of lockstep's."""

from lockstep.runtime.program import Outcome, run_program
from lockstep.runtime.simulator import Simulator

__all__ = ["Outcome", "Simulator", "run_program"]

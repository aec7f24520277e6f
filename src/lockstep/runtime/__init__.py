"""Running CUDA programs: the calls that they make, executed on a device of lockstep's.

``program.py`` starts a program, ``server.py`` serves its calls, a ``connection.py`` each, on a
``simulator.py``, which has the device. ``context.py`` is what one program has, and a method for
each call; ``memory.py``, ``code.py``, ``streams.py``, ``textures.py`` and ``tensor_maps.py`` are
parts of it, ``answers.py`` and ``status.py`` how calls end. ``linkage.py``, ``images.py`` and
``choice.py`` look at the program's file. ``replay.py`` executes a record of calls;
``summary.py`` is said at the end.
"""

from lockstep.runtime.program import ProgramEnd, run_program
from lockstep.runtime.simulator import Simulator

__all__ = ["ProgramEnd", "Simulator", "run_program"]

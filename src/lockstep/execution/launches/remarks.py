"""What is said on stderr of launches that are right no more than the program, each thing once."""

import sys

import numpy as np

from lockstep.execution.launches.faults import place_of
from lockstep.execution.programs.program import Program, Recording
from lockstep.names import demangled


class Remarks:
    """The remarks of one device: on clocks once, on lanes that were forced once for each kernel."""

    def __init__(self):
        self._said: set[str] = set()

    def on_forced(self, program: Program, first: int) -> None:
        """Lanes went on without those that they waited for; ``first``: the static index where."""
        self._say(
            program.name,
            program,
            first,
            "lanes went on there without others that it waits for, because these could not come; "
            "its results may differ from a GPU's",
        )

    def on_clocks(self, program: Program, times: np.ndarray) -> None:
        """Say if a launch read a clock that means nothing; ``times``: executions of each block."""
        if "clocks" in self._said or Recording.AT_ISSUE in program.recording:
            return
        for index in program.clock_reads:
            block = np.searchsorted(program.blocks["first"], index, "right") - 1
            if times[block]:
                self._say(
                    "clocks",
                    program,
                    index,
                    "clocks count executed instructions in this run, no time; add --at-issue, "
                    "with timing, or Device(timing=True, at_issue=True)",
                )
                return

    def on_refusal(self, program: Program, index: int, text: str) -> None:
        """A kernel got an error from CUDA's device runtime."""
        self._say(f"{program.name} {text}", program, index, text)

    def _say(self, what: str, program: Program, index: int, text: str) -> None:
        if what in self._said:
            return
        self._said.add(what)
        place = place_of(program, index)
        sys.stdout.flush()
        line = f"lockstep: kernel {demangled(program.name)}, pc {place.pc:#x}: {place}: {text}"
        print(line, file=sys.stderr, flush=True)

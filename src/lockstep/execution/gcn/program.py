"""Programs of kernels of Southern Islands: made once, then kept."""

from typing import TYPE_CHECKING

from lockstep.execution.programs import kept
from lockstep.execution.programs.program import Program, Recording

if TYPE_CHECKING:
    from lockstep.execution.gcn.source import Source


def translate(source: "Source", key: str, recording: Recording) -> Program:
    """The program of a kernel; ``key`` identifies its binary in the disk cache."""

    def make() -> Program:
        from lockstep.execution.gcn.translate import Translation

        return Translation(source, recording).program()

    return kept.program((key, source.file, source.name, int(recording)), make)

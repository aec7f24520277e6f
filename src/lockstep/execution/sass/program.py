"""Programs of kernels of machine code: made once, then kept."""

from typing import TYPE_CHECKING

from lockstep.execution.programs import kept
from lockstep.execution.programs.program import Objects, Part, Program, Recording
from lockstep.execution.sass.source import Source

if TYPE_CHECKING:
    from lockstep.execution.sass.translate import Translation


class Supply:
    """Makes a kernel's program, and later the object code of its parts; see :class:`Program`."""

    def __init__(self, source: Source, recording: Recording):
        self._source, self._recording = source, recording
        self._translation: Translation | None = None

    def program(self) -> Program:
        """Translate the kernel; large ones without the object code of their parts."""
        from lockstep.execution.sass.translate import Translation

        translation = Translation(self._source, self._recording)
        program = translation.program()
        self._translation = translation
        return program

    def __call__(self, part: Part) -> Objects:
        """The object code of a part, which kernels of the same code share."""
        return kept.objects((part.key,), lambda: self._compile(part))

    def _compile(self, part: Part) -> Objects:
        if self._translation is None:
            self.program()
        return self._translation.compile(part)


def translate(source: Source, key: str, recording: Recording) -> Program:
    """The program of a kernel; ``key`` identifies its cubin in the disk cache."""
    supply = Supply(source, recording)
    parts = (key, source.file, source.name, int(recording))
    program = kept.program(parts, supply.program)
    program.supply = supply
    return program

"""Programs of PTX kernels, and whether a module can be executed: found out once, then kept."""

from typing import TYPE_CHECKING

from lockstep.execution.programs import kept
from lockstep.execution.programs.program import Objects, Part, Program, Recording
from lockstep.isa.ptx.syntax import Module

if TYPE_CHECKING:
    from lockstep.execution.ptx.translate import Translation


class PtxSupply:
    """Makes a kernel's program, and later the object code of its parts; see :class:`Program`.

    ``key`` identifies the module's text.
    """

    def __init__(self, module: Module, name: str, key: str, recording: Recording):
        self._module, self._name, self._recording = module, name, recording
        self.parts = (key, module.name, name, int(recording))
        self._translation: Translation | None = None

    def program(self) -> Program:
        """Translate the kernel; large ones without the object code of their parts."""
        from lockstep.execution.ptx.translate import Translation

        self._translation = Translation(self._module, self._name, self._recording)
        return self._translation.program()

    def __call__(self, part: Part) -> Objects:
        """The object code of a part."""
        return kept.objects((*self.parts, part.key), lambda: self._compile(part))

    def _compile(self, part: Part) -> Objects:
        if self._translation is None:
            self.program()
        assert self._translation is not None, "it was translated"
        return self._translation.compile(part)


def translate(module: Module, name: str, key: str, recording: Recording) -> Program:
    """The program of a kernel; ``key`` identifies the module's text."""
    supply = PtxSupply(module, name, key, recording)
    program = kept.program(supply.parts, supply.program)
    program.supply = supply
    return program


def check_legal(module: Module, key: str) -> None:
    """Raise :class:`InputError` if anything in a module is no PTX; ``key`` identifies its text."""

    def look() -> None:
        from lockstep.execution.ptx.check import check_legal

        check_legal(module)

    kept.once((key, "legal"), look)


def check(module: Module, key: str, shared_bytes: int) -> None:
    """Raise :class:`InputError` if anything in a module cannot be executed.

    ``key`` identifies its text; ``shared_bytes``: that a CTA can have.
    """

    def look() -> None:
        from lockstep.execution.ptx.check import check

        check(module, shared_bytes)

    kept.once((key, shared_bytes), look)

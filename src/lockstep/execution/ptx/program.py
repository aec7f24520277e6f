"""Programs of PTX kernels, and whether a module can be executed: found out once, then kept."""

from lockstep.execution.programs import kept
from lockstep.execution.programs.program import Program, Recording
from lockstep.isa.ptx.syntax import Module


def translate(module: Module, name: str, key: str, recording: Recording) -> Program:
    """The program of a kernel; ``key`` identifies the module's text."""

    def make() -> Program:
        from lockstep.execution.ptx.translate import Translation

        return Translation(module, name, recording).program()

    return kept.program((key, module.name, name, int(recording)), make)


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

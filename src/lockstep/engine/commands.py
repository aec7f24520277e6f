"""What a simulation is given to do, in order, and which of it runs."""

from collections.abc import Mapping
from typing import TypeGuard

from lockstep.engine.stop import check_parts
from lockstep.workload import Command, Kernel
from lockstep.workload.warm import Warming


class GivenCommands:
    """All commands so far, and the kernels among them that are launched.

    ``chosen``: ids of the kernels that run, None for all; those that are warmed are launched, too.
    ``first_ctas``: by id, at which CTA a kernel begins; those before it do not run.
    """

    def __init__(self, chosen: set[int] | None, first_ctas: Mapping[int, int]):
        self._chosen, self._first_ctas = chosen, first_ctas
        self.commands: list[Command] = []
        self.launches: list[Kernel] = []  # by their numbers

    def add(self, commands: list[Command]) -> None:
        """These follow all others."""
        self.commands += commands
        for command in commands:
            if isinstance(command, Warming):
                self.launches.append(command.kernel)
            elif self.runs(command):
                self.launches.append(command)

    def runs(self, command: Command) -> TypeGuard[Kernel]:
        """Whether a command is a kernel that is to run."""
        chosen = self._chosen
        return isinstance(command, Kernel) and (chosen is None or command.id in chosen)

    def selected(self, commands: list[Command]) -> list[Command]:
        """Commands without the kernels that are not to run."""
        return [c for c in commands if not isinstance(c, Kernel) or self.runs(c)]

    def first_cta(self, kernel: Kernel) -> int:
        """The number of the CTA at which a kernel begins."""
        return self._first_ctas.get(kernel.id, 0)

    def ctas(self, commands: list[Command]) -> int:
        """How many CTAs commands run; raises :class:`WorkloadError` where none begins so."""
        count = 0
        for kernel in filter(self.runs, commands):
            check_parts(kernel, self.first_cta(kernel))
            count += kernel.n_ctas - self.first_cta(kernel)
        return count

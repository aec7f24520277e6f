"""A workload: copies and kernel launches, in order; and all else that a simulation is given."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lockstep import notebook
from lockstep.host_calls import HostCommand, MemoryCopy
from lockstep.workload.digest import digest_of
from lockstep.workload.kernel import Kernel
from lockstep.workload.warm import MemoryPass, Warming, WarmSet

Command = Kernel | MemoryCopy | HostCommand | MemoryPass | WarmSet | Warming
"""What a simulation is given to do."""


@dataclass
class Workload:
    """A program as the GPU sees it: copies and kernel launches, in order.

    Or some of its launches, apart from each other: *live points*. Then each kernel follows the
    WarmSet that it begins with, and ``points`` says what the launches stand for: a document in
    JSON, see :mod:`lockstep.sampling.points`.
    """

    name: str
    commands: Sequence[Kernel | MemoryCopy | WarmSet]
    path: str = ""  # where it was read from
    gpu: str = ""  # name of the GPU that it was recorded on, if that is known
    points: str = ""  # of live points

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return notebook.rows(
            f"{self.name}: {len(self.kernels):,} kernels",
            [kernel.row for kernel in self.kernels],
        )

    @cached_property
    def digest(self) -> str:
        """Hash of its content, for the manifest.

        A front end sets it if it knows a quicker way than to read every CTA.
        """
        return digest_of(self.name, self.points, self.commands)

    @property
    def kernels(self) -> list[Kernel]:
        """The kernel launches, in order."""
        return [c for c in self.commands if isinstance(c, Kernel)]

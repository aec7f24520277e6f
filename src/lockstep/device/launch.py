"""A kernel launch and what is known of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lockstep.errors import LockstepError
from lockstep.frontend.exec.launch import Geometry

if TYPE_CHECKING:
    from lockstep.device.module import Kernel
    from lockstep.engine.record import KernelRun


@dataclass
class Launch:
    """One launch, executed in order with the others of its stream."""

    kernel: "Kernel"
    geometry: Geometry
    parameters: bytes
    stream: Any
    arguments: tuple  # kept, so that their memory lives until the launch is done
    id: int = 0  # among the device's launches, from 1
    run: "KernelRun | None" = None  # what the timing model counted

    @property
    def cycles(self) -> int:
        """Core cycles from the launch to the end of its last CTA; waits for it."""
        return self._timed().cycles

    def _timed(self) -> "KernelRun":
        device = self.kernel.module.device
        device.synchronize()
        if self.run is None:
            raise LockstepError(
                "this launch was not simulated: create the device with timing=True"
                if not device.timing
                else "the simulation ended before this launch"
            )
        return self.run

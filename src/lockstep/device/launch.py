"""A kernel launch and what is known of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lockstep.frontend.exec.launch import Geometry

if TYPE_CHECKING:
    from lockstep.device.module import Kernel


@dataclass
class Launch:
    """One launch, executed in order with the others of its stream."""

    kernel: "Kernel"
    geometry: Geometry
    parameters: bytes
    stream: Any
    arguments: tuple  # kept, so that their memory lives until the launch is done

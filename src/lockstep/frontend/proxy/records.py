"""What the models of a proxy are used for: launches, copies, and the memory they are about."""

from dataclasses import dataclass

from lockstep.isa.instruction import WARP_SIZE


@dataclass(frozen=True, slots=True)
class ProxyAllocation:
    """A range of device memory."""

    base: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ProxyCopy:
    """A copy from the host to an allocation."""

    allocation: int
    offset: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ProxyLaunch:
    """A launch: the number of a model, and what a kernel needs.

    ``allocations``: which allocation of the proxy each one is that the model knows.
    """

    model: int
    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    allocations: tuple[int, ...]
    registers: int = 32
    shared_bytes: int = 0
    stream: int = 0
    architecture: int = 0
    shared_base: int = 0
    local_base: int = 0
    cluster: tuple[int, int, int] = (1, 1, 1)
    warp_size: int = WARP_SIZE
    scalar_registers: int = 0


Command = ProxyLaunch | ProxyCopy

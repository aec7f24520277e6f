"""Devices of one system: whose memory each may access, and copies between them."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import msgspec
import numpy as np

from lockstep.device.owner import OwningDevice
from lockstep.errors import LockstepError
from lockstep.execution.memory.device_memory import DeviceMemory
from lockstep.gpus.system import GpuSystem
from lockstep.host_calls import PeerCopy
from lockstep.workload import Cta, Kernel


class PeerError(LockstepError):
    """Access that cannot be given, was given already, or was not given; ``enabled``: which."""

    def __init__(self, problem: str, enabled: bool | None = None):
        super().__init__(problem)
        self.enabled = enabled  # None: it is impossible


class PeerTable:
    """Which devices of a system have access to the memory of which others."""

    def __init__(self, system: GpuSystem, memories: list[DeviceMemory]):
        self._system, self._memories = system, memories
        self._enabled: set[tuple[int, int]] = set()
        for one, memory in enumerate(memories):
            memory.joined += [m for k, m in enumerate(memories) if system.are_joined(one, k)]
        self.cross_fabric = False  # whether accesses of simulated kernels do
        self.accesses = 0  # ... and how many did not, which took no time of their own

    def can_access(self, device: int, peer: int) -> bool:
        """Whether a device could be given access to the memory of another one."""
        self._check(device, peer)
        return self._system.are_joined(device, peer)

    def has_access(self, device: int, peer: int) -> bool:
        """Whether it was given."""
        self._check(device, peer)
        return (device, peer) in self._enabled

    def enable(self, device: int, peer: int) -> None:
        """Give kernels of a device access to the memory of another; not the other way."""
        if not self.can_access(device, peer):
            raise PeerError(
                f"GPU {device} cannot access the memory of GPU {peer}: nothing of "
                f"{self._system.name} joins them"
            )
        if self.has_access(device, peer):
            raise PeerError(f"GPU {device} has access to the memory of GPU {peer} already", True)
        self._enabled.add((device, peer))
        self._memories[device].peers.append(self._memories[peer])

    def disable(self, device: int, peer: int) -> None:
        """Take that access away again."""
        if not self.has_access(device, peer):
            raise PeerError(f"GPU {device} has no access to the memory of GPU {peer}", False)
        self._enabled.remove((device, peer))
        self._memories[device].peers.remove(self._memories[peer])

    def _check(self, *devices: int) -> None:
        for device in devices:
            if device not in range(len(self._memories)):
                raise PeerError(
                    f"GPU {device!r} of {self._system.name}: it has 0 to {len(self._memories) - 1}"
                )

    def note_accesses(self, count: int) -> None:
        """A kernel that is simulated has accessed memory of others."""
        self.accesses += count

    def is_staged(self, source: int, to: int) -> bool:
        """Whether a copy goes by way of the host: neither of both has access to the other."""
        return not (self.has_access(source, to) or self.has_access(to, source))


def noting_peer_accesses(
    kernel: Kernel, memory: DeviceMemory, note: Callable[[int], None]
) -> Kernel:
    """A kernel that tells how many of its accesses go to the memory of other devices.

    Each warp instruction counts once, or each of its addresses where they are listed one by one.
    """
    low, high = memory.range.base, memory.range.base + memory.range.size
    own = memory.base, memory.base + memory.capacity

    def ctas() -> Iterator[Cta]:
        for cta in kernel.ctas():
            places = np.concatenate([cta.addresses["first"], cta.pool])
            elsewhere = (places < own[0]) | (places >= own[1])
            note(int(((places >= low) & (places < high) & elsewhere).sum()))
            yield cta

    return replace(kernel, ctas=ctas)


class Seat(msgspec.Struct, frozen=True):
    """What a device of a system is given by it."""

    index: int
    memory: DeviceMemory
    peers: PeerTable
    events: Iterator[int]  # numbers of events


def copy_between(
    to: tuple[OwningDevice, int],
    source: tuple[OwningDevice, int],
    size: int,
    stream: tuple[OwningDevice, int, bool],
    perform: Callable[[], None],
) -> None:
    """Copy bytes from a device and address to another one, and have ``perform`` move them.

    ``stream``: its device and number, and whether the host waits. Where the host takes no time they
    are moved now, after all launches so far. Raises :class:`LockstepError` if the devices belong to
    no system, or not to the same one.
    """
    (target, address), (origin, _) = to, source
    table = target.peers
    if table is None or origin.peers is not table:
        raise LockstepError(
            f"a copy from {origin.gpu.name} to {target.gpu.name}: they are no devices of one system"
        )
    owner, number, blocking = stream
    if not owner.host_takes_time:
        origin.drain()
        target.drain()
        perform()
        return
    staged = table.is_staged(origin.index, target.index)
    owner.asks(
        PeerCopy(
            address,
            size,
            stream=number,
            blocking=blocking,
            perform=perform,
            source=origin.index,
            to=target.index,
            staged=staged,
        )
    )

"""Copies of the host into device memory: who is told of them."""

from lockstep.device.launching import LaunchingDevice
from lockstep.device.watching import sees_copies
from lockstep.host_calls import MemoryCopy


def wrote(device: LaunchingDevice, copy: MemoryCopy) -> None:
    """Tell of a copy that was done, if there is anything of it and anybody to be told."""
    watched = sees_copies(device.watcher)
    if copy.bytes and (watched or device.timing is not None or device.recorder is not None):
        tell(device, copy, device.memory.view(copy.address, copy.bytes).data)


def tell(device: LaunchingDevice, copy: MemoryCopy, content: memoryview) -> None:
    """Tell of a copy; if it was not done yet, what simulates does it in its turn."""
    if device.recorder:
        device.recorder.copied(copy)
    if sees_copies(device.watcher):
        device.watcher.host_wrote(copy, device.memory.allocations())
    if device.timing:
        device.timing.copied(copy, content)

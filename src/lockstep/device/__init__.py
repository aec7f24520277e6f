"""A GPU in Python: arrays, modules, launches; results and cycles without a GPU."""

from lockstep.device.array import DeviceArray
from lockstep.device.course import Diverged
from lockstep.device.device import Device
from lockstep.device.launch import Choose, Launch
from lockstep.device.local_memory import local
from lockstep.device.module import Kernel, Module
from lockstep.device.recording import Recorder
from lockstep.device.streams import Event, Stream
from lockstep.device.system import System
from lockstep.device.texture import Texture
from lockstep.device.timing import Stopped
from lockstep.device.treatment import Treatment
from lockstep.device.watching import Watcher

__all__ = [
    "Choose",
    "Device",
    "DeviceArray",
    "Diverged",
    "Event",
    "Kernel",
    "Launch",
    "Module",
    "Recorder",
    "Stopped",
    "Stream",
    "System",
    "Texture",
    "Treatment",
    "Watcher",
    "local",
]

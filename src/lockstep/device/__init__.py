"""A GPU in Python: arrays, modules, launches; results and cycles without a GPU."""

from lockstep.device.array import DeviceArray
from lockstep.device.device import Device
from lockstep.device.launch import Launch
from lockstep.device.module import Kernel, Module

__all__ = ["Device", "DeviceArray", "Kernel", "Launch", "Module"]

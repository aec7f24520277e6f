"""A GPU in Python: arrays, modules, launches; results and cycles without a GPU.

Read ``device.py``, which is what users hold, and ``options.py``; then what it gives out:
``array.py`` (made in ``allocation.py``), ``module.py`` (``ptx.py``, ``cubin.py``, ``gcn.py``),
``launch.py``, ``streams.py``. A launch goes through ``launching.py`` to ``execution.py``, or by way
of ``command_queue.py`` to ``timing.py``, which simulates, and which ``beginning.py`` makes; a copy
of the host through ``copies.py``. ``system.py`` and ``peers.py``: several devices at one host.
``watching.py`` and ``recording.py``: who is told of launches; ``warmth.py``: what those leave that
are not simulated; ``profiler.py``: what one leaves in the L2; ``continuation.py``, ``course.py``
and ``effects.py``: checkpoints of programs. ``changes.py``: what launches changed in memory.
"""

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

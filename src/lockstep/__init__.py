"""lockstep: a GPU simulator. CUDA programs or traces go in; results, cycles and counters come out.

Example::

    import lockstep

    result = lockstep.simulate("traces/vectoradd/kernelslist.g", "QV100")
    print(lockstep.summary(result))
    result.kernels  # a DataFrame, one row a kernel
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lockstep import plot
    from lockstep.advice.advise import advise
    from lockstep.api import gpu, gpu_for, gpu_names, load, save, simulate
    from lockstep.builder import KernelBuilder
    from lockstep.campaigns import SweepPoint, campaign
    from lockstep.device import Device, System, local
    from lockstep.errors import InputError, LockstepError, PolicyError, SpecError, WorkloadError
    from lockstep.execution.launches.faults import LaunchError
    from lockstep.metrics.result import Result
    from lockstep.report.compare import compare
    from lockstep.report.page.write import write_report
    from lockstep.report.summary import summary
    from lockstep.report.timeline import write_timeline
    from lockstep.studies import study

_HOMES = {
    "lockstep.advice.advise": ("advise",),
    "lockstep.api": ("gpu", "gpu_for", "gpu_names", "load", "save", "simulate"),
    "lockstep.builder": ("KernelBuilder",),
    "lockstep.campaigns": ("SweepPoint", "campaign"),
    "lockstep.device": ("Device", "System", "local"),
    "lockstep.errors": ("InputError", "LockstepError", "PolicyError", "SpecError", "WorkloadError"),
    "lockstep.execution.launches.faults": ("LaunchError",),
    "lockstep.metrics.result": ("Result",),
    "lockstep.report.compare": ("compare",),
    "lockstep.report.page.write": ("write_report",),
    "lockstep.report.summary": ("summary",),
    "lockstep.report.timeline": ("write_timeline",),
    "lockstep.studies": ("study",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Device",
    "InputError",
    "KernelBuilder",
    "LaunchError",
    "LockstepError",
    "PolicyError",
    "Result",
    "SpecError",
    "SweepPoint",
    "System",
    "WorkloadError",
    "advise",
    "campaign",
    "compare",
    "gpu",
    "gpu_for",
    "gpu_names",
    "load",
    "local",
    "plot",
    "save",
    "simulate",
    "study",
    "summary",
    "write_report",
    "write_timeline",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import lockstep`` costs nothing."""
    if name == "__version__":
        return import_module("lockstep.metrics.manifest").version()
    if name == "plot":
        return import_module("lockstep.plot")
    if name not in _HOME:
        raise AttributeError(f"module 'lockstep' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value

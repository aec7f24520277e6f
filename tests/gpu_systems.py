"""Systems of small GPUs for tests: a launch and a call cost next to nothing."""

from lockstep.gpus import systems
from lockstep.gpus.fabric import FabricSpec
from lockstep.gpus.system import GpuSystem, SystemSpec

SMALL = ("sm.count=4", "dram.channels=2", "launch.overhead=100", "host.call_ns.copy=0",
         "host.call_ns.launch=100", "host.call_ns.allocate=0", "host.call_ns.query=0",
         "host.call_ns.synchronize=0")  # fmt: skip
NVLINK = {"topology": "nvlink", "bandwidth": 25.0, "latency": 500_000}
NVSWITCH = {"topology": "nvswitch", "bandwidth": 25.0, "latency": 500_000, "links_per_gpu": 2,
            "ports": 32, "switch_latency": 100_000}  # fmt: skip
PCIE = {"topology": "pcie"}


def small_system(count: int, changes=(), gpus=(), **fabric) -> GpuSystem:
    """A system of small GPUs, by default joined pair by pair, each by one link.

    ``gpus``: which they are, QV100 unless it is given.
    """
    fabric = fabric or NVLINK
    if fabric["topology"] == "nvlink" and "links" not in fabric:
        pairs = tuple(f"{a}-{b}" for b in range(count) for a in range(b))
        fabric = fabric | {"links": pairs}
    spec = SystemSpec(
        name="SMALL",
        description="for tests",
        gpus=tuple(gpus) or ("QV100",) * count,
        changes=(*SMALL, *changes),
        fabric=FabricSpec(**fabric),
    )
    return systems.system(spec)

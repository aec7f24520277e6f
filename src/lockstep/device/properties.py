"""What programs are told about the GPU: device attributes from its specification."""

import numpy as np

from lockstep.device.cluster import ARCHITECTURE
from lockstep.gpus.library import totals
from lockstep.gpus.spec import GPU
from lockstep.isa.instruction import MOST_THREADS, WARP_SIZE
from lockstep.workload import MOST_BLOCK, MOST_GRID

COUNT = 148  # attributes are numbered below this: cudaDeviceAttr of CUDA 13.0
SHARED_WITHOUT_OPTING_IN = 48 << 10  # bytes a block: CUDA C++ Programming Guide

# Limits of the programming model: CUDA C++ Programming Guide, "Technical Specifications per Compute
# Capability" (the values are the same for 7.0 and later), and of textures: the same, table of
# texture and surface limits.
_FIXED = {
    1: MOST_THREADS,
    **dict(zip((2, 3, 4), MOST_BLOCK)),
    **dict(zip((5, 6, 7), MOST_GRID)),
    9: 65536,  # constant memory
    10: WARP_SIZE,
    11: 2**31 - 1,  # pitch of a copy
    14: 512,  # texture alignment
    51: 32,  # texture pitch alignment
    21: 131072, 77: 131072, 69: 1 << 28,
    22: 131072, 23: 65536, 73: 32768, 74: 32768,
    70: 131072, 71: 65000, 72: 2097120, 45: 32768, 46: 32768,
    24: 16384, 25: 16384, 26: 16384, 47: 8192, 48: 8192, 49: 32768,
    52: 32768, 42: 32768, 43: 2048, 27: 32768, 28: 32768, 29: 2048, 53: 32768, 54: 2046,
    55: 32768, 56: 131072, 57: 65536, 58: 16384, 59: 16384, 60: 16384,
    61: 32768, 62: 2048, 63: 32768, 64: 32768, 65: 2048, 66: 32768, 67: 32768, 68: 2046,
    30: 512,  # surface alignment
}  # fmt: skip

# What the interception gives: memory that host and device both see, one copy engine.
_PRESENT = {
    15: 1,  # copies overlap with kernels
    19: 1,  # host memory can be mapped
    31: 1,  # concurrent kernels
    40: 1,  # copy engines
    41: 1,  # unified addressing
    78: 1,  # stream priorities
    79: 1,  # global loads are cached in L1
    80: 1,  # local ones, too
    83: 1,  # managed memory
    89: 1,  # concurrent managed access
    90: 1,  # compute preemption
    **dict.fromkeys((92, 93, 94, 122, 123), 1),  # operations on words of memory in streams
    95: 1,  # cooperative launches
    99: 1,  # the program's own memory can be registered
    101: 1,  # managed memory can be read by the host
    102: 1,  # virtual memory
    115: 1,  # memory pools
}


def attributes(gpu: GPU, index: int = 0) -> np.ndarray:
    """The device attributes, int32 by their ``CUdevice_attribute``; 0 where there is none.

    ``index``: of the GPU in its system, on whose bus it is the only device.
    """
    version = max(architectures(gpu))
    values = {
        **_FIXED,
        **_PRESENT,
        12: gpu.sm.registers,
        13: round(gpu.clock_mhz * 1000),
        16: gpu.sm.count,
        33: index,  # PCI bus
        36: round(gpu.dram.clock_mhz * 1000),
        37: 8 * gpu.dram.channels * gpu.dram.bus_bytes,
        38: totals(gpu).l2_bytes,
        39: 32 * gpu.sm.warps,
        75: version // 10,
        76: version % 10,
        81: gpu.shared.bytes,
        82: gpu.sm.registers,
        87: 2 if version in (60, 70, 80, 90, 100) else 32,
        8: min(SHARED_WITHOUT_OPTING_IN, gpu.shared.most_cta_bytes),
        97: gpu.shared.most_cta_bytes,
        106: gpu.sm.ctas,
        111: gpu.shared.reserved_per_cta,
        120: version >= ARCHITECTURE,  # clusters
    }
    table = np.zeros(COUNT, "<i4")
    for number, value in values.items():
        table[number] = value
    return table


def architectures(gpu: GPU) -> tuple[int, ...]:
    """The binaries that programs may hand over; a GPU that names none is taken for a Volta."""
    return gpu.architectures or (70,)

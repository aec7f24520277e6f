"""What a GPU can launch, and how much of it runs at the same time."""

import math

from lockstep.device.cluster import Triple, most_clusters
from lockstep.errors import LockstepError, WorkloadError
from lockstep.execution.launches.geometry import STACK_BYTES, Geometry
from lockstep.execution.programs.program import Program
from lockstep.execution.ptx.demands import demand
from lockstep.gpus.spec import GPU
from lockstep.isa.instruction import MOST_THREADS
from lockstep.isa.ptx.syntax import Function
from lockstep.workload import MOST_BLOCK, MOST_GRID, Code, Kernel

MOST_LOCAL = 512 << 10  # bytes of a thread's local memory: CUDA C++ Programming Guide, all GPUs


def places(program: Program, geometry: Geometry, gpu: GPU, portable: bool = True) -> int:
    """CTAs of a launch that the GPU holds at once, in whole clusters; ``portable``: see
    :func:`.cluster.most_clusters`.

    Raises :class:`WorkloadError` if the GPU cannot run it.
    """
    grid, block, shared = geometry.grid, geometry.block, geometry.dynamic_shared
    _check(program.name, "grid", grid, MOST_GRID)
    _check(program.name, "block", block, MOST_BLOCK)
    threads = block[0] * block[1] * block[2]
    if threads > MOST_THREADS:
        raise WorkloadError(
            f"kernel {program.name}: a block of {threads} threads; a GPU takes {MOST_THREADS}"
        )
    if shared < 0:
        raise WorkloadError(f"kernel {program.name}: {shared} bytes of dynamic shared memory")
    _check_shared(program, shared, gpu)
    if geometry.lanes != gpu.sm.warp_size:  # it can be executed there, but not simulated
        return min(gpu.sm.count, geometry.ctas)
    kernel = Kernel(
        id=0,
        name=program.name,
        grid=grid,
        block=block,
        registers=program.registers,
        shared_bytes=program.shared_bytes + shared,
        code=Code(),
        ctas=lambda: iter(()),
        cluster=geometry.cluster,
        warp_size=geometry.lanes,
        scalar_registers=program.scalar_registers,
    )
    return min(most_clusters(kernel, gpu, portable) * geometry.cluster_ctas, kernel.n_ctas)


def _check_shared(program: Program, dynamic: int, gpu: GPU) -> None:
    most = gpu.shared.most_cta_bytes
    if program.shared_bytes + dynamic > most:
        raise WorkloadError(
            f"kernel {program.name}: {program.shared_bytes} bytes of static and {dynamic} of "
            f"dynamic shared memory; a CTA of {gpu.name} has at most {most}"
        )


def check_directives(function: Function, block: Triple) -> None:
    """Refuse a block that the kernel was not compiled for, and what no launch can have.

    Raises :class:`WorkloadError` that names the directive.
    """
    directives, threads = function.directives, math.prod(block)
    if threads > math.prod(directives.get("maxntid", (threads,))):
        most = math.prod(directives["maxntid"])
        raise WorkloadError(
            f"kernel {function.name}: a block of {threads} threads; its .maxntid allows {most}"
        )
    wanted = (*directives.get("reqntid", block), 1, 1)[:3]
    if block != wanted:
        raise WorkloadError(f"kernel {function.name}: block {block}; its .reqntid is {wanted}")
    if problem := demand(function):
        raise WorkloadError(f"kernel {function.name}: {problem}")


class StackError(LockstepError):
    """Device memory has no room for a stack of that size of all resident threads."""


def check_stack(size: int, gpu: GPU, memory_bytes: int) -> int:
    """``size``, as the bytes of each thread's stack.

    Raises :class:`LockstepError` where no thread can have so much, :class:`StackError` where not
    all that a GPU holds at once can.
    """
    if not 0 <= size <= MOST_LOCAL:
        raise LockstepError(f"stack_bytes = {size}: expected 0 to {MOST_LOCAL}")
    threads = gpu.sm.count * gpu.sm.warps * gpu.sm.warp_size
    if size > STACK_BYTES and size * threads > memory_bytes:
        raise StackError(
            f"stack_bytes = {size}: {memory_bytes} bytes of device memory have room for "
            f"{memory_bytes // threads} of each of the {threads} threads that {gpu.name} holds"
        )
    return size


def _check(kernel: str, what: str, sizes: Triple, most: Triple) -> None:
    if any(size > limit for size, limit in zip(sizes, most)):
        raise WorkloadError(f"kernel {kernel}: {what} {sizes}; a GPU takes at most {most}")

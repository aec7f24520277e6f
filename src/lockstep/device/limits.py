"""What a GPU can launch, and how much of it runs at the same time."""

import math

from lockstep.errors import WorkloadError
from lockstep.frontend.exec.program import Program
from lockstep.frontend.exec.ptx.check import demand
from lockstep.gpus.spec import GPU
from lockstep.isa.instruction import MOST_THREADS
from lockstep.isa.ptx.syntax import Function
from lockstep.model.sm.bind import occupancy
from lockstep.workload import Code, Kernel

MOST_BLOCKS = (2**31 - 1, 65535, 65535)  # CUDA C++ Programming Guide, technical specifications
MOST_BLOCK = (1024, 1024, 64)  # the same

Triple = tuple[int, int, int]


def places(program: Program, grid: Triple, block: Triple, shared: int, gpu: GPU) -> int:
    """CTAs of a launch that the GPU holds at once; ``shared``: dynamic bytes.

    Raises :class:`WorkloadError` if the GPU cannot run it.
    """
    _check(program.name, "grid", grid, MOST_BLOCKS)
    _check(program.name, "block", block, MOST_BLOCK)
    threads = block[0] * block[1] * block[2]
    if threads > MOST_THREADS:
        raise WorkloadError(
            f"kernel {program.name}: a block of {threads} threads; a GPU takes {MOST_THREADS}"
        )
    if shared < 0:
        raise WorkloadError(f"kernel {program.name}: {shared} bytes of dynamic shared memory")
    kernel = Kernel(
        id=0,
        name=program.name,
        grid=grid,
        block=block,
        registers=program.registers,
        shared_bytes=program.shared_bytes + shared,
        code=Code(),
        ctas=tuple,
    )
    return min(occupancy(kernel, gpu)[0] * gpu.sm.count, kernel.n_ctas)


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


def _check(kernel: str, what: str, sizes: Triple, most: Triple) -> None:
    if any(size > limit for size, limit in zip(sizes, most)):
        raise WorkloadError(f"kernel {kernel}: {what} {sizes}; a GPU takes at most {most}")

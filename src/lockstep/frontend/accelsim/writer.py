"""Writing a workload as ``kernelslist.g`` and ``.traceg`` files, for Accel-Sim to read as well."""

from pathlib import Path

from lockstep.errors import WorkloadError
from lockstep.files import replacing
from lockstep.frontend.accelsim.text import KernelText, NeedsNewerVersion
from lockstep.isa.instruction import WARP_SIZE
from lockstep.workload import Kernel, MemoryCopy, Workload

VERSIONS = (5, 6)  # of the tracer; predicates and uniform registers need 6
_64_BITS = (1 << 64) - 1


def write(workload: Workload, directory: str | Path, tracer: int = VERSIONS[-1]) -> None:
    """Write ``kernelslist.g`` and one ``kernel-N.traceg`` a kernel into ``directory``.

    A kernel is written in the oldest version of the format that can express it, and reading it back
    gives the same streams. With ``tracer`` 5, which all releases of Accel-Sim read, it is that
    version, without predicates and uniform registers, as that tracer sees programs. Every file gets
    its name when it is complete, the list last. Scheduling control bits have no place in the format
    and are left out; an operand list that has none raises :class:`~lockstep.errors.WorkloadError`,
    as does a kernel whose warps do not have 32 threads.
    """
    if workload.points:
        raise WorkloadError("live points are kept in .lst files alone: an Accel-Sim trace has none")
    for kernel in workload.kernels:
        if kernel.warp_size != WARP_SIZE:
            raise WorkloadError(
                f"kernel {kernel.id} ({kernel.name}): warps of {kernel.warp_size} threads; "
                f"those of an Accel-Sim trace have {WARP_SIZE}"
            )
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    lines, kernels = [], 0
    for command in workload.commands:
        if isinstance(command, MemoryCopy):
            lines.append(f"MemcpyHtoD,0x{command.address & _64_BITS:016x},{command.bytes}\n")
            continue
        assert isinstance(command, Kernel), "what else there is belongs to live points"
        kernels += 1
        name = f"kernel-{kernels}.traceg"
        _write_kernel(command, directory / name, tracer)
        lines.append(name + "\n")
    with replacing(directory / "kernelslist.g") as temporary:
        temporary.write_text("".join(lines))


def _write_kernel(kernel: Kernel, path: Path, newest: int) -> None:
    """Write in the oldest version that can express the kernel, or in the newest allowed."""
    for version in VERSIONS:
        try:
            with replacing(path) as temporary, temporary.open("wb", buffering=1 << 20) as file:
                file.write(_header(kernel, version).encode())
                text = KernelText(kernel, version, leaves_out=version == newest)
                for cta in kernel.ctas():
                    file.writelines(text.block(cta))
            return
        except NeedsNewerVersion:
            continue


def _cluster(kernel: Kernel) -> str:
    """A line of our own, which other readers pass over, where CTAs run in clusters."""
    if kernel.cluster == (1, 1, 1):
        return ""
    return f"-cluster dim = ({','.join(map(str, kernel.cluster))})\n"


def _header(kernel: Kernel, version: int) -> str:
    """The header, in the order in which the tracer writes it."""
    name = " ".join(kernel.name.split()) or "unnamed"
    grid, block = (",".join(map(str, dim)) for dim in (kernel.grid, kernel.block))
    layout = (
        "[line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
        "[address_mode] [mem_addresses] immediate" + (" immediate values" if version > 5 else "")
    )
    return (
        f"-kernel name = {name}\n"
        f"-kernel id = {kernel.id}\n"
        f"-grid dim = ({grid})\n"
        f"-block dim = ({block})\n"
        f"{_cluster(kernel)}"
        f"-shmem = {kernel.shared_bytes}\n"
        f"-nregs = {kernel.registers}\n"
        f"-binary version = {kernel.architecture}\n"
        f"-cuda stream id = {kernel.stream}\n"
        f"-shmem base_addr = 0x{kernel.shared_base & _64_BITS:016x}\n"
        f"-local mem base_addr = 0x{kernel.local_base & _64_BITS:016x}\n"
        f"-nvbit version = none\n"
        f"-accelsim tracer version = {version}\n"
        f"-enable lineinfo = 0\n\n"
        f"#traces format = {layout}\n\n"
    )

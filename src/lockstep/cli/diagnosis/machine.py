"""The processor, its cores and memory, and the tools that are used where they are found."""

import importlib.util
import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path

from lockstep.cli.diagnosis.symptom import Severity, Symptom
from lockstep.errors import LockstepError
from lockstep.host_memory import memory_bytes

VECTORS = ("avx512f", "avx2", "avx", "sse4.2", "sve", "neon")
"""Features by which vector code differs, in LLVM's words, widest first."""
TOOLS = {
    "nvcc": "compiles CUDA programs that `lockstep run` executes",
    "ptxas": "makes cubins of PTX",
    "cuobjdump": "takes PTX and cubins out of programs, as `lockstep disasm` does, too",
    "mpiexec": "starts the processes of --ranks mpi",
}
"""Programs that nothing needs to be there for, and what for they are used."""
MODULES = {"triton": "kernels in Triton", "torch": "tensors of PyTorch as arguments"}
_LEAST_MEMORY = 2 << 30  # bytes: compiling the model takes half of that


def machine() -> Iterator[Symptom]:
    """Processor, cores and memory."""
    yield Symptom("system", platform.platform())
    yield _processor()
    total = os.cpu_count() or 1
    usable = _usable_cores() or total
    facts = {"cores": total, "usable": usable}
    yield Symptom("cores", f"{usable} of {total} may be used", facts=facts)
    yield _memory()


def _processor() -> Symptom:
    """What LLVM takes the processor for: machine code is made for it, and for no other."""
    from lockstep._jit import processor

    found = processor()
    features = [f[1:] for f in found.features.split(",") if f.startswith("+")]
    vectors = [name for name in VECTORS if name in features]
    text = f"{found.name} ({found.triple}), {len(features)} features"
    facts = {"cpu": found.name, "triple": found.triple, "features": features}
    return Symptom("processor", text + f", of them {', '.join(vectors)}" * bool(vectors),
                   facts=facts)  # fmt: skip


def _usable_cores() -> int | None:
    """Those that this process may use; None where the system does not say."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return None


def _memory() -> Symptom:
    size = memory_bytes()
    if size is None:
        return Symptom("memory", "unknown")
    low = size < _LEAST_MEMORY
    advice = "the model may not compile: lockstep needs 2 GiB" if low else ""
    severity = Severity.NOTE if low else Severity.GOOD
    return Symptom("memory", f"{size / 2**30:.1f} GiB", severity, advice, {"bytes": size})


def tools() -> Iterator[Symptom]:
    """Compilers and programs; none is needed to simulate traces and built-in programs."""
    yield _c_compiler()
    for name, use in TOOLS.items():
        path = _program(name)
        text = path or f"not found: {use}"
        yield Symptom(name, text, Severity.GOOD if path else Severity.NOTE, facts={"path": path})
    yield _nvrtc()
    for name, use in MODULES.items():
        there = importlib.util.find_spec(name) is not None
        severity = Severity.GOOD if there else Severity.NOTE
        yield Symptom(name, "installed" if there else f"not installed: {use}", severity)


def _c_compiler() -> Symptom:
    from lockstep.frontend.cuda import build

    try:
        path = shutil.which(build.compiler())
    except LockstepError as error:
        return Symptom("C compiler", "not found", Severity.NOTE, str(error), {"path": None})
    return Symptom("C compiler", f"{path}", facts={"path": path})


def _nvrtc() -> Symptom:
    from lockstep.device import cuda

    if cuda.has_compiler():
        return Symptom("NVRTC", "found: CUDA C++ as text can be compiled")
    return Symptom("NVRTC", "not found", Severity.NOTE, cuda.ABSENT)


def _program(name: str) -> str | None:
    """Where a program is: on the path, or in a CUDA toolkit that the path does not know."""
    from lockstep.device import cuda

    places = (Path(root) / "bin" for root in cuda.roots())
    return shutil.which(name) or next(
        (found for place in places if (found := shutil.which(name, path=str(place)))), None
    )

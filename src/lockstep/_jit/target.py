"""The processor of this host: what machine code is made for."""

import functools
import hashlib
import importlib.util
import platform
import re
import sys
from pathlib import Path
from typing import NamedTuple

_CPUINFO = Path("/proc/cpuinfo")
_TOLD = re.compile(rb"(?:vendor_id|cpu family|model|stepping|flags)\s*:.*")


class Processor(NamedTuple):
    """What machine code is made for, in LLVM's words."""

    name: str
    features: str  # all that there are, "+avx2,-avx512f"
    llvm: tuple[int, ...]
    triple: str


@functools.cache
def processor() -> Processor:
    """The processor of this host, and the LLVM that knows it."""
    from llvmlite import binding

    return Processor(
        binding.get_host_cpu_name(),
        binding.get_host_cpu_features().flatten(),
        tuple(binding.llvm_version_info),
        binding.get_process_triple(),
    )


@functools.cache
def host_key() -> str:
    """What object code depends on besides its source: the processor and LLVM.

    Linux tells the one without LLVM, which a process that compiles nothing does not import.
    """
    told = _told() if is_linux_x86() else b""
    return hashlib.sha256(told + _llvm()).hexdigest() if told else repr(tuple(processor()))


def is_linux_x86() -> bool:
    """Whether this process runs on Linux, on x86-64."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def _told() -> bytes:
    """Model and features of the first processor, by the kernel and as this process finds them.

    An emulator gives a process other features than the kernel tells.
    """
    try:
        with open(_CPUINFO, "rb") as file:
            first = file.read(1 << 14).split(b"\n\n")[0]
    except OSError:
        return b""
    lines = _TOLD.findall(first)
    if not any(line.startswith(b"flags") for line in lines):
        return b""
    return b"\n".join([*lines, repr(_found()).encode()])


def _found() -> list[tuple[str, bool]]:
    """The features that NumPy has found."""
    import numpy  # noqa: F401  # else its part is not there

    found = sys.modules.get("numpy._core._multiarray_umath")
    return sorted(getattr(found, "__cpu_features__", {}).items())


def _llvm() -> bytes:
    found = importlib.util.find_spec("llvmlite")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("there is no llvmlite")
    return (Path(found.origin).parent / "_version.py").read_bytes()

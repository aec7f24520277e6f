"""CUDA C++ to PTX by NVRTC, NVIDIA's compiler library, where it is installed."""

import ctypes
import importlib.util
import os
from functools import cache
from pathlib import Path

from lockstep.errors import LockstepError

ABSENT = (
    "NVRTC, the compiler of CUDA C++, is not installed: pip install 'lockstep-gpu[cuda]', or set "
    "CUDA_HOME to a CUDA toolkit"
)
OPTIONS = ("--std=c++17", "-lineinfo")


class CompileError(LockstepError):
    """CUDA C++ that the compiler refuses; ``log`` is all that it says."""

    def __init__(self, log: str):
        self.log = log
        super().__init__(f"NVRTC: {log}")


@cache
def roots() -> tuple[Path, ...]:
    """Folders that hold a CUDA toolkit or a part of one: NVIDIA's wheels, then CUDA_HOME."""
    spec = importlib.util.find_spec("nvidia")
    wheels = spec.submodule_search_locations if spec else None
    roots = [folder for place in wheels or () for folder in sorted(Path(place).glob("*"))]
    homes = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    return (*roots, *map(Path, homes))


def _places(pattern: str) -> list[Path]:
    return [path for root in roots() for path in sorted(root.glob(pattern))]


@cache
def include_folders() -> tuple[Path, ...]:
    """Where CUDA's headers are (cuda_fp16.h, mma.h, those of CCCL)."""
    folders = [p.parent for p in _places("include/cuda_fp16.h") + _places("include/mma.h")]
    folders += [p.parents[1] for p in _places("include/crt/mma.h")]
    folders += [p.parents[1] for p in _places("include/cccl/cuda/std/version")]
    folders += [p.parents[2] for p in _places("include/cuda/std/version")]
    return tuple(dict.fromkeys(f.resolve() for f in folders))


@cache
def _library() -> ctypes.CDLL:
    for path in _places("lib*/libnvrtc.so*") + _places("bin/nvrtc64*.dll"):
        if "builtins" not in path.name and "alt" not in path.name:
            return ctypes.CDLL(str(path))
    raise LockstepError(ABSENT)


def has_compiler() -> bool:
    """Whether NVRTC is there; it is loaded."""
    try:
        _library()
    except (LockstepError, OSError):  # or it is there and lacks what it needs
        return False
    return True


def compile_cuda(
    source: str, arch: str = "sm_70", options: tuple[str, ...] = (), name: str = "source.cu"
) -> str:
    """PTX of CUDA C++ text for an architecture such as ``sm_70``.

    ``options`` are further options of NVRTC, such as ``-DN=4``; messages and line information
    call the text ``name``. Raises :class:`CompileError`
    with the compiler's log, :class:`LockstepError` if there is no compiler.
    """
    library = _library()
    program = ctypes.c_void_p()
    text, title = source.encode(), name.encode()
    _check(library.nvrtcCreateProgram(ctypes.byref(program), text, title, 0, None, None))
    try:
        chosen = [f"--gpu-architecture={arch.replace('sm_', 'compute_')}", *OPTIONS, *options]
        chosen += [f"-I{folder}" for folder in include_folders()]
        words = (ctypes.c_char_p * len(chosen))(*(option.encode() for option in chosen))
        if library.nvrtcCompileProgram(program, len(chosen), words):
            raise CompileError(_text(program, "ProgramLog").strip())
        return _text(program, "PTX")
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _text(program: ctypes.c_void_p, what: str) -> str:
    """One of the program's texts: ``PTX`` or ``ProgramLog``."""
    library, size = _library(), ctypes.c_size_t()
    _check(getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check(getattr(library, f"nvrtcGet{what}")(program, buffer))
    return buffer.value.decode(errors="replace")


def _check(code: int) -> None:
    if code:
        _library().nvrtcGetErrorString.restype = ctypes.c_char_p
        raise LockstepError(f"NVRTC: {_library().nvrtcGetErrorString(code).decode()}")

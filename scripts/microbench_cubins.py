"""Compile the kernels of ``lockstep microbench`` to the cubins that the package has.

Run it as ``python scripts/microbench_cubins.py [NAME...]``. nvcc 13 makes the code of sm_80 and of
sm_90a; for sm_70, which it does not know, NVRTC 12.9 does, as ``pip install 'lockstep-gpu[cuda]'``
brings it. Sources are compiled from their own folder, so that no path of this machine is in a
cubin; what only debuggers read is left out, and the rest is compressed by xz.
"""

import ctypes
import lzma
import subprocess
import sys
import tempfile
from pathlib import Path

from lockstep.device import cuda
from lockstep.microbench.benchmark import ARCHITECTURES
from lockstep.microbench.code import file_name

PACKAGE = Path(__file__).parents[1] / "src" / "lockstep" / "microbench"
SOURCES = PACKAGE / "kernels"
NVRTC = {70: "sm_70"}
NVCC = {80: "sm_80", 90: "sm_90a"}
# Sources of which an architecture has nothing.
SINCE = {"wgmma": 90, "cluster": 90, "bulk": 90, "dependent": 90, "copies": 80, "grid": 80}
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 23}]


def by_nvcc(source: Path, arch: str) -> bytes:
    """A cubin by nvcc."""
    with tempfile.TemporaryDirectory() as place:
        output = Path(place) / "cubin"
        command = ["nvcc", "-O3", "-std=c++17", "-cubin", f"-arch={arch}", "-o", str(output)]
        subprocess.run([*command, source.name], check=True, cwd=source.parent)
        return output.read_bytes()


def by_nvrtc(source: Path, arch: str) -> bytes:
    """A cubin by NVRTC: the headers that a source includes stand in its place."""
    library, program = cuda._library(), ctypes.c_void_p()
    names = sorted(path.name for path in source.parent.glob("*.cuh"))
    texts = [(source.parent / name).read_bytes() for name in names]
    cuda._check(
        library.nvrtcCreateProgram(
            ctypes.byref(program), source.read_bytes(), source.name.encode(), len(names),
            (ctypes.c_char_p * len(names))(*texts),
            (ctypes.c_char_p * len(names))(*(name.encode() for name in names)),
        )
    )  # fmt: skip
    options = [f"--gpu-architecture={arch}", "--std=c++17"]
    words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    if library.nvrtcCompileProgram(program, len(options), words):
        raise cuda.CompileError(cuda._text(program, "ProgramLog"))
    size = ctypes.c_size_t()
    cuda._check(library.nvrtcGetCUBINSize(program, ctypes.byref(size)))
    cubin = ctypes.create_string_buffer(size.value)
    cuda._check(library.nvrtcGetCUBIN(program, cubin))
    return cubin.raw


def main(chosen: list[str]) -> None:
    """Compile all sources, or those with these names."""
    for source in sorted(SOURCES.glob("*.cu")):
        if chosen and source.stem not in chosen:
            continue
        for architecture in ARCHITECTURES:
            if architecture < SINCE.get(source.stem, 0):
                continue
            if architecture in NVRTC:
                cubin = by_nvrtc(source, NVRTC[architecture])
            else:
                cubin = by_nvcc(source, NVCC[architecture])
            packed = lzma.compress(cubin, format=lzma.FORMAT_XZ, filters=FILTERS)
            output = PACKAGE / "cubins" / file_name(architecture, source.stem)
            output.parent.mkdir(exist_ok=True)
            output.write_bytes(packed)
            print(f"{output.name}: {len(cubin):,} bytes, {len(packed):,} packed")


if __name__ == "__main__":
    main(sys.argv[1:])

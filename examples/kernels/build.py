"""Compile the PTX of the built-in kernels from their CUDA C++, with NVRTC.

Run it as ``python examples/kernels/build.py [NAME ...]``, without a GPU. NVRTC and the CUDA headers
come from ``pip install 'cuda-toolkit[nvcc,nvrtc,cudart,cccl]==12.9.*'``: a later one cannot compile
for sm_70. The output depends on the sources and on the version of NVRTC alone.
"""

import ctypes
import re
import sys
from importlib.util import find_spec
from pathlib import Path

from lockstep.kernels import BuiltinKernel, load, names

OPTIONS = ("-lineinfo", "-std=c++17")


def packages() -> list[Path]:
    """The folders of NVIDIA's packages from PyPI."""
    spec = find_spec("nvidia")
    roots = list(spec.submodule_search_locations) if spec else []
    return sorted(folder for root in roots for folder in Path(root).iterdir() if folder.is_dir())


class Compiler:
    """NVRTC, through its C interface."""

    def __init__(self):
        found = [file for folder in packages() for file in folder.glob("lib/libnvrtc.so.*")]
        if not found:
            sys.exit("NVRTC is missing: pip install 'cuda-toolkit[nvcc,nvrtc,cudart,cccl]==12.9.*'")
        self.library = ctypes.CDLL(str(found[0]))
        include = (folder / "include" for folder in packages())
        self.options = [*OPTIONS, *(f"-I{folder}" for folder in include if folder.is_dir())]

    def compile(self, source: str, name: str, arch: str) -> str:
        """PTX for ``arch`` ("sm_70"); exits with the compiler's messages if there are errors."""
        program = ctypes.c_void_p()
        self._call("CreateProgram", ctypes.byref(program), source.encode(), name.encode(), 0, 0, 0)
        options = [*self.options, f"-arch={arch.replace('sm', 'compute')}"]
        texts = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        if self.library.nvrtcCompileProgram(program, len(options), texts):
            sys.exit(self._text(program, "ProgramLog"))
        return self._text(program, "PTX")

    def _text(self, program: ctypes.c_void_p, what: str) -> str:
        size = ctypes.c_size_t()
        self._call(f"Get{what}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self._call(f"Get{what}", program, buffer)
        return buffer.value.decode()

    def _call(self, name: str, *arguments) -> None:
        if code := getattr(self.library, f"nvrtc{name}")(*arguments):
            sys.exit(f"nvrtc{name} failed with code {code}")


def relative(ptx: str) -> str:
    """The text with files named as ``#include`` would: nothing tells where it was compiled."""
    return re.sub(r'(\.file\s+\d+\s+)"[^"]*/([^"/]+)"', r'\1"\2"', ptx)


def build(kernel: BuiltinKernel, compiler: Compiler) -> None:
    """Write the PTX of one kernel beside its source."""
    source = kernel.source.read_text(encoding="utf-8")
    ptx = compiler.compile(source, kernel.source.name, kernel.arch)
    kernel.ptx.write_text(relative(ptx), encoding="utf-8")


def main(arguments: list[str]) -> None:
    """Build the kernels that are named, or all."""
    compiler = Compiler()
    for name in arguments or names():
        build(load(name), compiler)


if __name__ == "__main__":
    main(sys.argv[1:])

"""Compile the PTX of the built-in kernels from their CUDA C++, with NVRTC.

Run it as ``python examples/kernels/build.py [NAME ...]``, without a GPU, after
``pip install 'lockstep-gpu[cuda]'``. NVRTC 12.9 is the last one that compiles for sm_70. The output
depends on the sources and on the version of NVRTC alone.
"""

import re
import sys

from lockstep.device.cuda import compile_cuda
from lockstep.errors import LockstepError
from lockstep.kernels import BuiltinKernel, load, names


def relative(ptx: str) -> str:
    """The text with files named as ``#include`` would: nothing tells where it was compiled."""
    return re.sub(r'(\.file\s+\d+\s+)"[^"]*/([^"/]+)"', r'\1"\2"', ptx)


def compiled(kernel: BuiltinKernel) -> str:
    """The PTX of a kernel's source."""
    source = kernel.source.read_text(encoding="utf-8")
    return relative(compile_cuda(source, kernel.arch, name=kernel.source.name))


def main(arguments: list[str]) -> None:
    """Build the kernels that are named, or all."""
    for name in arguments or names():
        kernel = load(name)
        kernel.ptx.write_text(compiled(kernel), encoding="utf-8")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except LockstepError as error:
        sys.exit(str(error))

"""The built-in kernels: CUDA programs that come with lockstep, workloads by name.

Each lives in a folder of ``examples/kernels``: CUDA C++ and its PTX, a host program, and a
definition, a Python file that makes inputs, launches, and says what NumPy would have computed::

    from lockstep.kernels import load

    for check in load("saxpy").run(device, size=1_000_000):
        check.verify()
"""

from lockstep.kernels.definition import (
    BuiltinKernel,
    Check,
    WrongResult,
    blocks,
    brought_back,
    builtin,
)
from lockstep.kernels.library import load, names

__all__ = [
    "BuiltinKernel", "Check", "WrongResult", "blocks", "brought_back", "builtin", "load", "names",
]  # fmt: skip

"""The suite's kernels as machine code, which comes with the package."""

import lzma
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from lockstep.gpus.spec import GPU
from lockstep.microbench.benchmark import ARCHITECTURES

SUFFIX = ".cubin.xz"


def package() -> Traversable:
    """The folder that the package's own files are in."""
    return resources.files("lockstep.microbench")


def architecture_of(gpu: GPU) -> int:
    """The code that a GPU runs: the latest that it takes, else the oldest there is."""
    newest = max(gpu.architectures, default=0)
    return max((a for a in ARCHITECTURES if a <= newest), default=ARCHITECTURES[0])


def file_name(architecture: int, name: str) -> str:
    """Where the code of a source is, in the folder of cubins."""
    return f"{name}.sm_{architecture}{SUFFIX}"


@cache
def cubin(architecture: int, name: str) -> bytes:
    """The machine code of the source ``name``."""
    packed = package().joinpath("cubins", file_name(architecture, name)).read_bytes()
    return lzma.decompress(packed)

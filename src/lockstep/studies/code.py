"""Machine code of built-in programs, for studies that lay them beside a GPU that was measured.

The order of PTX is not that in which a GPU executes: of loads that wait for each other, errors of
cycles would be those of the code and not of what a study varies.
"""

import lzma
from pathlib import Path

from lockstep.gpus.spec import GPU

ARCHITECTURE = 90


def file_of(program: str) -> Path:
    """Where the code of a program is; ``scripts/study_cubins.py`` makes it."""
    return Path(__file__).parent / "cubins" / f"{program}.sm_{ARCHITECTURE}.cubin.xz"


def code_for(gpu: GPU, program: str) -> bytes | None:
    """A program's machine code for a GPU; None where it executes PTX."""
    if ARCHITECTURE not in gpu.architectures:
        return None
    return lzma.decompress(file_of(program).read_bytes())

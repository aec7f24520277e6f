"""Compile the PTX of these programs from their CUDA C++, with NVRTC 12.9, which knows sm_70.

python benchmarks/programs/build.py [NAME ...]
"""

import re
import sys
from pathlib import Path

from lockstep.device.cuda import compile_cuda
from lockstep.errors import LockstepError

FOLDER = Path(__file__).parent
ARCH = "sm_70"


def relative(ptx: str) -> str:
    """The text with files named by their names alone: nothing tells where it was compiled."""
    return re.sub(r'(\.file\s+\d+\s+)"[^"]*/([^"/]+)"', r'\1"\2"', ptx)


def main(names: list[str]) -> None:
    """Build the programs that are named, or all."""
    for path in sorted(FOLDER.glob("*.cu")):
        if not names or path.stem in names:
            text = compile_cuda(path.read_text(encoding="utf-8"), ARCH, name=path.name)
            path.with_suffix(".ptx").write_text(relative(text), encoding="utf-8")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except LockstepError as error:
        sys.exit(str(error))

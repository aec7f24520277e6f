"""The kernels in assembly text beside the tests that run them."""

from functools import cache
from pathlib import Path

from lockstep.isa.gcn import container
from lockstep.isa.gcn.decode import decode

KERNELS = Path(__file__).parents[1] / "execution" / "gcn" / "kernels"


@cache
def instructions(file, kernel):
    """Mnemonics of a kernel, in order."""
    found = container.read_file(KERNELS / f"{file}.bin").kernels[kernel]
    return [i.name for i in decode(found.code)]

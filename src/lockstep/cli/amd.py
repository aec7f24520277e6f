"""Which files are kernel binaries of AMD's OpenCL compiler."""

from pathlib import Path

HEADER_BYTES = 20  # of an ELF, up to its machine


def is_binary_of_amd(path: Path) -> bool:
    """Whether the file begins as one; False for what is no file that can be read."""
    from lockstep.isa.gcn.elf import is_elf_of_amd

    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return is_elf_of_amd(file.read(HEADER_BYTES))
    except OSError:
        return False

"""How a program is linked: whether its CUDA calls can be intercepted."""

from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from lockstep.errors import InputError

_FAT_BINARIES = ".nv_fatbin"
RELINK = (
    "the CUDA runtime is linked into the program, so its calls cannot be intercepted; link it "
    "with `nvcc -cudart shared` (CMake: set CMAKE_CUDA_RUNTIME_LIBRARY to Shared)"
)


def check_linkage(path: Path) -> None:
    """Refuse a program that holds GPU code and the static CUDA runtime.

    Scripts and programs that are no ELF files pass. Raises :class:`InputError`.
    """
    with path.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            return
        try:
            elf = ELFFile(file)
            has_code = elf.get_section_by_name(_FAT_BINARIES) is not None
            if has_code and not any(name.startswith("libcud") for name in needed(elf)):
                raise InputError(path, "", RELINK)
        except ELFError as error:
            raise InputError(path, "", f"a damaged program: {error}") from error


def hidden_libraries(path: Path) -> list[str]:
    """CUDA libraries that the program itself says where to find, before the environment is asked.

    These are those of programs with the old form of a run path (DT_RPATH without DT_RUNPATH).
    """
    with path.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            return []
        elf = ELFFile(file)
        section = elf.get_section_by_name(".dynamic")
        kinds = {tag.entry.d_tag for tag in section.iter_tags()} if section else set()
        if "DT_RPATH" not in kinds or "DT_RUNPATH" in kinds:
            return []
        return [name for name in needed(elf) if name.startswith(("libcudart.so.", "libcuda.so."))]


def needed(elf: ELFFile) -> list[str]:
    """The shared libraries that a program asks for."""
    section = elf.get_section_by_name(".dynamic")
    if not isinstance(section, DynamicSection):
        return []
    return [tag.needed for tag in section.iter_tags("DT_NEEDED")]

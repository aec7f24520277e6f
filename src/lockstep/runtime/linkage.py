"""What a file is that somebody wants to run, and whether its calls can be intercepted."""

import os
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from lockstep.errors import InputError

_FAT_BINARIES = ".nv_fatbin"
_FAT, _ELF, _ARCHIVE = b"\x50\xed\x55\xba", b"\x7fELF", b"!<arch>\n"
RELINK = (
    "the CUDA runtime is linked into the program, so its calls cannot be intercepted; link it "
    "with `nvcc -cudart shared` (CMake: set CMAKE_CUDA_RUNTIME_LIBRARY to Shared)"
)
_SOURCES = (".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c")
_BUILD = "compile it, as `nvcc -cudart shared -o {stem} {name}`, and `lockstep run ./{stem}`"
_LINK = "link it, as `nvcc -cudart shared -o {stem} {name}`, and `lockstep run ./{stem}`"
_LOAD = "it is no program: `lockstep disasm` lists it, lockstep.Device().load_cubin launches it"
_PERMIT = "it may not be executed: `chmod +x {name}`, and `lockstep run ./{name}`"
_HERE = "`lockstep run ./{name}` starts it"


def check_program(path: Path) -> None:
    """Refuse a program that holds GPU code and the static CUDA runtime, and what is no program.

    Scripts and other programs that are no ELF files pass. Raises :class:`InputError`.
    """
    if path.suffix in _SOURCES:
        check_no_program(path)
    with path.open("rb") as file:
        if file.read(4) != _ELF:
            return
        try:
            elf = ELFFile(file)
            if elf["e_type"] == "ET_REL":
                check_no_program(path)
            has_code = elf.get_section_by_name(_FAT_BINARIES) is not None
            if has_code and not any(name.startswith("libcud") for name in needed(elf)):
                raise InputError(path, "", RELINK)
        except ELFError as error:
            raise InputError(path, "", f"a damaged program: {error}") from error


def check_no_program(path: Path) -> None:
    """Say of a file that cannot be started what it is, and what to do; of others, nothing.

    Raises :class:`InputError`.
    """
    what, advice = _kind(path)
    if what:
        advice = advice.format(name=path.name, stem=path.stem)
        raise InputError(path, "", f"{what}: {advice}")


def _kind(path: Path) -> tuple[str, str]:
    if path.suffix in _SOURCES:
        return "source text", _BUILD
    if path.suffix == ".py":
        return "a Python script", "`lockstep run python {name}`"
    with path.open("rb") as file:
        head = file.read(len(_ARCHIVE))
        if head.startswith(_FAT):
            return "GPU code", _LOAD
        if head == _ARCHIVE:
            return "a library of object files", _LINK
        if not head.startswith(_ELF):
            return "", ""
        try:
            elf = ELFFile(file)
            if elf["e_machine"] in ("EM_CUDA", 190):
                return "GPU code", _LOAD
            if elf["e_type"] == "ET_REL":
                return "an object file", _LINK
            return "a program", _HERE if os.access(path, os.X_OK) else _PERMIT
        except ELFError:
            return "a damaged program", "build it again"


def hidden_libraries(path: Path) -> list[str]:
    """CUDA libraries that the program itself says where to find, before the environment is asked.

    These are those of programs with the old form of a run path (DT_RPATH without DT_RUNPATH).
    """
    with path.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            return []
        elf = ELFFile(file)
        section = elf.get_section_by_name(".dynamic")
        tags = section.iter_tags() if isinstance(section, DynamicSection) else ()
        kinds = {tag.entry.d_tag for tag in tags}
        if "DT_RPATH" not in kinds or "DT_RUNPATH" in kinds:
            return []
        return [name for name in needed(elf) if name.startswith(("libcudart.so.", "libcuda.so."))]


def needed(elf: ELFFile) -> list[str]:
    """The shared libraries that a program asks for."""
    section = elf.get_section_by_name(".dynamic")
    if not isinstance(section, DynamicSection):
        return []
    # A tag has the attribute that its kind has.
    return [tag.needed for tag in section.iter_tags("DT_NEEDED")]  # type: ignore[attr-defined]

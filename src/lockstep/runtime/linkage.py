"""What a file is that somebody wants to run, and whether its calls can be intercepted."""

import os
import re
import subprocess
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from lockstep.errors import InputError
from lockstep.frontend.cuda.build import replaces_static

_FAT_BINARIES = ".nv_fatbin"
_FAT, _ELF, _ARCHIVE = b"\x50\xed\x55\xba", b"\x7fELF", b"!<arch>\n"
_REGISTER = b"\0__cudaRegisterFatBinary\0"  # of the CUDA runtime; programs call it before main
_CALLS = {b"cudaMalloc", b"cudaGetDeviceCount", b"cudaGetDevice", b"cudaSetDevice", b"cuInit"}
_SINCE_11 = b"\0cudaCtxResetPersistingL2Cache\0"
_RELINK = "link it with `nvcc -cudart shared` (CMake: set CMAKE_CUDA_RUNTIME_LIBRARY to Shared)"
STRIPPED = (
    "the CUDA runtime is linked into the program and its symbols are stripped, so its calls cannot "
    f"be intercepted; keep the symbols, or {_RELINK}"
)
OLD = f"the CUDA runtime in the program is older than CUDA 11; build it anew, or {_RELINK}"
ALL_STATIC = (
    "all libraries are linked into the program: no call can be intercepted; link without -static"
)
LIBRARY = "a shared library, which does not run by itself: `lockstep run` a program that loads it"
ELSEWHERE = f"the CUDA runtime is linked into the program, which works on x86-64 only; {_RELINK}"
_STATIC_TLS = 0x10  # DF_STATIC_TLS
USUAL_ROOM = 512  # bytes of it that glibc leaves, glibc.rtld.optional_static_tls
_LISTED = re.compile(r"=> (/.*) \(0x")  # by the loader: where it finds a library
_SOURCES = (".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c")
_BUILD = "compile it, as `nvcc -o {stem} {name}`, and `lockstep run ./{stem}`"
_LINK = "link it, as `nvcc -o {stem} {name}`, and `lockstep run ./{stem}`"
_LOAD = "it is no program: `lockstep disasm` lists it, lockstep.Device().load_cubin launches it"
_PERMIT = "it may not be executed: `chmod +x {name}`, and `lockstep run ./{name}`"
_HERE = "`lockstep run ./{name}` starts it"


def check_program(path: Path) -> None:
    """Refuse what is no program, and one that holds GPU code whose calls cannot be intercepted.

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
            if elf.get_section_by_name(_FAT_BINARIES) is not None:
                _check_linked(path, elf)
            elif _is_alone(elf) and not needed(elf) and _CALLS & set(_names(elf).split(b"\0")):
                raise InputError(path, "", ALL_STATIC)
        except ELFError as error:
            raise _damaged(path, error) from error


def _damaged(path: Path, error: ELFError) -> InputError:
    return InputError(path, "", f"a damaged program: {error}")


def _check_linked(path: Path, elf: ELFFile) -> None:
    """Refuse a library, and a program in which a CUDA runtime's functions cannot be replaced."""
    alone = _is_alone(elf)
    if alone and needed(elf):
        raise InputError(path, "", LIBRARY)
    if _asks(elf):
        return
    if not replaces_static():
        raise InputError(path, "", ELSEWHERE)
    if alone:
        raise InputError(path, "", ALL_STATIC)
    names = _names(elf)
    if _REGISTER not in names:
        raise InputError(path, "", STRIPPED)
    if _SINCE_11 not in names:
        raise InputError(path, "", OLD)


def _is_alone(elf: ELFFile) -> bool:
    """Whether nothing loads libraries for it."""
    return not any(segment["p_type"] == "PT_INTERP" for segment in elf.iter_segments())


def _names(elf: ELFFile) -> bytes:
    """Those of its symbols, each ended by a zero; the symbols themselves take half a second."""
    table = elf.get_section_by_name(".strtab")
    return table.data() if table is not None else b""


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


def thread_bytes(path: Path) -> int:
    """Memory that each thread has of the libraries a program starts with.

    0 if the loader has room anyway for those that must have it where threads begin, and say so
    (DF_STATIC_TLS), as sanitizers do.
    """
    with path.open("rb") as file:
        if file.read(4) != _ELF:
            return 0
        elf = ELFFile(file)
        loaders = [s.get_interp_name() for s in elf.iter_segments("PT_INTERP")]  # type: ignore[attr-defined]
    if not loaders:
        return 0
    listed = subprocess.run([loaders[0], "--list", path], capture_output=True, text=True)
    sizes = [_thread_part(Path(name)) for name in _LISTED.findall(listed.stdout)]
    fits = sum(size for size, bound in sizes if bound) <= USUAL_ROOM
    return 0 if fits else sum(size for size, _ in sizes)


def _thread_part(library: Path) -> tuple[int, bool]:
    """Bytes of a library's memory of each thread, and whether it must be where threads begin."""
    with library.open("rb") as file:
        elf = ELFFile(file)
        parts = [s.header for s in elf.iter_segments("PT_TLS")]
        section = elf.get_section_by_name(".dynamic")
        tags = section.iter_tags("DT_FLAGS") if isinstance(section, DynamicSection) else ()
        bound = any(tag.entry.d_val & _STATIC_TLS for tag in tags)
        return sum(part.p_memsz + part.p_align for part in parts), bound


def _asks(elf: ELFFile) -> bool:
    return any(name.startswith("libcud") for name in needed(elf))


def needed(elf: ELFFile) -> list[str]:
    """The shared libraries that a program asks for."""
    section = elf.get_section_by_name(".dynamic")
    if not isinstance(section, DynamicSection):
        return []
    # A tag has the attribute that its kind has.
    return [tag.needed for tag in section.iter_tags("DT_NEEDED")]  # type: ignore[attr-defined]

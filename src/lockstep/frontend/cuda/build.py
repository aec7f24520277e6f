"""Building the replacement libraries with the system's C compiler, once, in the user's cache."""

import functools
import hashlib
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from lockstep import store
from lockstep.errors import LockstepError
from lockstep.frontend.cuda.calls import c_header

SOURCES = Path(__file__).parent / "shim"
COMPILERS = ("cc", "gcc", "clang")
OPTIONS = ("-O2", "-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra")
CORE = "liblockstep_gpu.so"
CORE_HEADERS = ("gpu.h", "array.h", "graph.h")
PREFIX = "lockstep_"  # of all that the core exports: a program may have functions of such names
CORE_SOURCES = (
    "link.c",
    "handles.c",
    "modules.c",
    "jit_options.c",
    "kernels.c",
    "copies.c",
    "array.c",
    "texture.c",
    "registered.c",
    "error_table.c",
    "limits.c",
    "pools.c",
    "advice.c",
    "capture.c",
    "enqueue.c",
    "held.c",
    "host_functions.c",
    "patience.c",
    "memory_operations.c",
    "graph.c",
    "graph_plan.c",
    "graph_work.c",
    "graph_memory.c",
    "graph_conditions.c",
    "user_objects.c",
)
GRAPH_SOURCES = (  # of both APIs
    "graphs.c",
    "graph_nodes.c",
    "graph_edges.c",
    "graph_parameters.c",
    "graph_capture.c",
    "graph_objects.c",
)
RUNTIME_SOURCES = (
    "errors.c",
    "registration.c",
    "libraries.c",
    "launches.c",
    "memory.c",
    "managed.c",
    "memory_pools.c",
    "processes.c",
    "batches.c",
    "streams.c",
    "device.c",
    "arrays.c",
    "textures.c",
    "entry_points.c",
    "graph_copies.c",
    *GRAPH_SOURCES,
)
DRIVER_SOURCES = (
    "driver_device.c",
    "driver_queries.c",
    "driver_entry_points.c",
    "driver_modules.c",
    "driver_linking.c",
    "driver_memory.c",
    "driver_virtual.c",
    "managed.c",
    "memory_pools.c",
    "processes.c",
    "driver_copies.c",
    "driver_arrays.c",
    "driver_streams.c",
    "driver_memory_operations.c",
    "driver_tensor_maps.c",
    *GRAPH_SOURCES,
)
STATIC_SOURCES = ("static_runtime.c",)
DRIVER = "libcuda.so.1"
STATIC = "liblockstep_static.so"  # for a runtime that is linked into programs and libraries
RUNTIMES = {11: "libcudart.so.11.0", 12: "libcudart.so.12", 13: "libcudart.so.13"}
COMPILE_SECONDS = 120
_MOST_WORDS = 24  # of arguments

NO_COMPILER = (
    "no C compiler: lockstep builds its replacement of the CUDA runtime on first use and needs cc, "
    "gcc or clang (or the one that CC names); on Debian: apt install gcc libc6-dev"
)


def libraries() -> Path:
    """The folder with the replacement libraries; built if they are not there yet.

    Raises :class:`LockstepError` if there is no C compiler, or it fails.
    """
    return store.folder("runtime", _fingerprint(), _build)


@functools.cache
def _fingerprint() -> str:
    digest = hashlib.sha256(c_header().encode() + platform.machine().encode())
    for path in (Path(__file__), *sorted(SOURCES.iterdir())):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:20]


def is_built() -> bool:
    """Whether the libraries are kept, and whole."""
    return store.has_folder("runtime", _fingerprint())


def replaces_static() -> bool:
    """Whether a runtime inside programs can be replaced on this processor."""
    return platform.machine() == "x86_64"


def compiler() -> str:
    """The C compiler; raises :class:`LockstepError` where there is none."""
    for name in (os.environ.get("CC"), *COMPILERS):
        if name and shutil.which(name):
            return name
    raise LockstepError(NO_COMPILER)


def _build(folder: Path) -> None:
    tool = compiler()
    (folder / "calls.h").write_text(c_header())
    (folder / "names.h").write_text(_prefixed())
    core = [*_paths(CORE_SOURCES), "-fvisibility=default", f"-Wl,-soname,{CORE}", "-pthread"]
    _run(tool, folder, CORE, core)
    linked = [f"-L{folder}", "-llockstep_gpu", "-Wl,-rpath,$ORIGIN"]
    for version, name in RUNTIMES.items():
        _run(tool, folder, name, [*_runtime(folder, version, name), *linked])
    unsupported = _unsupported(folder, "driver.h", "driver_unsupported.txt", "gpu_unsupported")
    per_thread = _per_thread(folder, "driver_per_thread.txt")
    sources = [*_paths(DRIVER_SOURCES), unsupported, "-ldl", per_thread]
    _run(tool, folder, DRIVER, [*sources, f"-Wl,-soname,{DRIVER}", *linked])
    (folder / "libcuda.so").symlink_to(DRIVER)
    if replaces_static():
        (folder / "static_names.h").write_text(_static_names(folder))
        _run(tool, folder, STATIC, [*_paths(STATIC_SOURCES), "-ldl"])


def _static_names(folder: Path) -> str:
    """What each runtime exports, in the order of ``strcmp``: functions that programs may hold."""
    rows = []
    for library in RUNTIMES.values():
        with (folder / library).open("rb") as file:
            table = ELFFile(file).get_section_by_name(".dynsym")
            symbols = table.iter_symbols() if isinstance(table, SymbolTableSection) else ()
            defined = {symbol.name for symbol in symbols if symbol["st_shndx"] != "SHN_UNDEF"}
        rows.append(sorted(name for name in defined if name.startswith(("cuda", "__cuda"))))
    most = max(len(row) for row in rows)
    lines = [f"enum {{ VERSIONS = {len(rows)}, MOST_NAMES = {most} }};"]
    lines += ["static const char *const libraries[] = {", *_quoted(RUNTIMES.values()), "};"]
    lines += [f"static const size_t name_counts[] = {{{', '.join(str(len(r)) for r in rows)}}};"]
    lines += ["static const char *const names[][MOST_NAMES] = {"]
    lines += [line for row in rows for line in ("{", *_quoted(row), "},")]
    return "\n".join([*lines, "};", ""])


def _quoted(names: Iterable[str]) -> list[str]:
    return [f'"{name}",' for name in names]


def _prefixed() -> str:
    """Macros that give the functions and variables of the core's headers their prefix."""
    text = "".join((SOURCES / name).read_text() for name in CORE_HEADERS)
    names = re.findall(r"^[a-z][\w *]*?\b(\w+)(?:\(|(?:\[.*\])?;)", text, re.MULTILINE)
    return "".join(f"#define {name} {PREFIX}{name}\n" for name in sorted(set(names)))


def _runtime(folder: Path, version: int, name: str) -> list[str]:
    """The compiler's arguments for the runtime of one CUDA version."""
    script = folder / f"{name}.map"
    script.write_text(f"{name} {{ global: cuda*; __cuda*; local: *; }};\n")
    say = "report(gpu_unsupported"
    return [
        *_paths(RUNTIME_SOURCES),
        "-ldl",
        _unsupported(folder, "runtime.h", "unsupported.txt", say),
        f"-DRUNTIME={version}",
        f"-Wl,--version-script,{script}",
        f"-Wl,-soname,{name}",
        _per_thread(folder, "per_thread.txt"),
    ]


def _per_thread(folder: Path, names: str) -> str:
    """A source with the functions whose default stream is the thread's: they say so, and go on.

    Their arguments are numbers and structures of these, which go the way of so many words.
    """
    words = [f"w{k}" for k in range(_MOST_WORDS)]
    declared = ", ".join(f"long {word}" for word in words)
    lines = ["void stream_default_is_per_thread(void);"]
    for name in _names(names):
        lines += [
            f"extern long {name[:-5]}({declared});",
            f'__attribute__((visibility("default"))) long {name}({declared}) {{',
            f"stream_default_is_per_thread(); return {name[:-5]}({', '.join(words)}); }}",
        ]
    path = folder / names.replace(".txt", ".c")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def _names(file: str) -> list[str]:
    return (SOURCES / file).read_text().split()


def _unsupported(folder: Path, header: str, names: str, say: str) -> str:
    """A source with the functions of a library that do nothing but say so."""
    end = ")" * (1 + say.count("("))
    lines = [f'#include "{header}"']
    lines += [f'API int {name}(void) {{ return {say}("{name}"{end}; }}' for name in _names(names)]
    path = folder / names.replace(".txt", ".c")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def _paths(names: tuple[str, ...]) -> list[str]:
    return [str(SOURCES / name) for name in names]


def _run(compiler: str, folder: Path, output: str, arguments: list[str]) -> None:
    command = [
        compiler,
        *OPTIONS,
        f"-I{folder}",
        f"-I{SOURCES}",
        "-include",
        "names.h",
        *arguments,
        "-o",
        str(folder / output),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LockstepError(f"cannot build {output} with {compiler}: {error}") from error
    if done.returncode:
        raise LockstepError(f"cannot build {output} with {compiler}: {done.stderr.strip()}")

"""Opening Accel-Sim traces: a list of kernels, a directory that holds one, or one trace file."""

import hashlib
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

from lockstep.errors import InputError
from lockstep.frontend.accelsim import raw, traceg, tracez
from lockstep.frontend.accelsim.header import Header
from lockstep.frontend.accelsim.kernelslist import ListedLaunch, read_list
from lockstep.frontend.accelsim.statics import Statics
from lockstep.workload import Code, Cta, Kernel, MemoryCopy, Workload
from lockstep.workload.warm import WarmSet

Reader = Callable[[Path, Header, Statics], Iterator[Cta]]
LISTS = ("kernelslist.g", "kernelslist")  # the second one lists the tracer's raw files
_READERS: dict[str, tuple[Callable[[Path], Header], Reader]] = {
    ".traceg": (traceg.read_header, traceg.read_blocks),
    ".trace": (traceg.read_header, raw.read_blocks),
    ".tracez": (tracez.read_header, tracez.read_blocks),
}
_COMPRESSED = (".xz", ".gz")
_SAMPLE = 1 << 16
_PROGRAMS = (".cu", ".ptx", ".c", ".cpp", ".cc", ".py")
_ELF = b"\x7fELF"


def load(path: str | Path) -> Workload:
    """Open a ``kernelslist.g``, a directory with one, or a single trace file.

    Only the headers are read; ``Kernel.ctas()`` streams the rest. Raises
    :class:`~lockstep.errors.InputError` for whatever is wrong with the files.
    """
    path = Path(path)
    source = _find(path)
    digest = hashlib.blake2b(digest_size=16)
    commands: list[Kernel | MemoryCopy | WarmSet] = [
        _open(c, digest) if isinstance(c, Path) else _copied(c, digest) for c in trace_files(source)
    ]
    if not any(isinstance(c, Kernel) for c in commands):
        raise InputError(source, "", "expected at least one kernel, found none")
    name = path.name.partition(".")[0] if kind_of(path) else source.parent.resolve().name
    workload = Workload(name, commands, str(path))
    workload.digest = digest.hexdigest()
    return workload


def trace_files(path: str | Path) -> list[Path | MemoryCopy]:
    """What :func:`load` reads: the file of each kernel launch, and the copies, in order."""
    source = _find(Path(path))
    listed = [ListedLaunch(source, 0)] if kind_of(source) else read_list(source)
    return [c.path if isinstance(c, ListedLaunch) else c for c in listed]


def kind_of(path: Path) -> str:
    """``.traceg``, ``.trace`` or ``.tracez``, compressed or not; "" for other names."""
    name = Path(path.stem) if path.suffix in _COMPRESSED else path
    return name.suffix if name.suffix in _READERS else ""


def _find(path: Path) -> Path:
    """The file that ``path`` stands for."""
    if not path.is_dir():
        if not path.is_file():
            what = (
                "neither a file nor a directory"
                if path.exists()
                else "there is no such file or directory"
            )
            raise InputError(path, "", what)
        if not kind_of(path) and (problem := _no_trace(path)):
            raise InputError(path, "", f"no trace but {problem}")
        return path
    for name in LISTS:
        if (path / name).is_file():
            return path / name
    traces = [p for p in sorted(path.iterdir()) if kind_of(p)]
    if len(traces) != 1:
        expected = f"{LISTS[0]} or one trace file in the directory"
        raise InputError(path, "", f"expected {expected}, found {len(traces)} trace files")
    return traces[0]


def _no_trace(path: Path) -> str:
    """What a file is that is taken for a trace or a list of them by mistake; "" for others."""
    if path.suffix in _PROGRAMS:
        return "the text of a program: `lockstep run` executes it, `lockstep trace` traces it"
    try:
        with path.open("rb") as file:
            is_binary = file.read(len(_ELF)) == _ELF
    except OSError as error:
        raise InputError(path, "", f"cannot read: {error.strerror or error}") from error
    return "a binary: `lockstep run` executes programs, `lockstep disasm` shows code" * is_binary


def _open(path: Path, digest) -> Kernel:
    """The kernel whose trace is at ``path``."""
    kind = kind_of(path)
    if not kind:
        raise InputError(path, "", f"expected a file name that ends in {', '.join(_READERS)}")
    read_header, read_blocks = _READERS[kind]
    header = read_header(path)
    _sample(path, digest)
    trace = _Trace(path, header, read_blocks)
    return Kernel(
        id=header.id,
        name=header.name,
        grid=header.grid,
        cluster=header.cluster,
        block=header.block,
        registers=header.registers,
        shared_bytes=header.shared_bytes,
        code=trace.code,
        ctas=trace.ctas,
        stream=header.stream,
        architecture=header.architecture,
        shared_base=header.shared_base,
        local_base=header.local_base,
    )


def _copied(copy: MemoryCopy, digest) -> MemoryCopy:
    digest.update(f"copy {copy.address} {copy.bytes}\n".encode())
    return copy


def _sample(path: Path, digest) -> None:
    """Add a trace to the workload's digest: its size, start and end; the whole may be terabytes."""
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        digest.update(f"kernel {size}\n".encode())
        for offset in (0, max(0, size - _SAMPLE)):
            file.seek(offset)
            digest.update(file.read(_SAMPLE))


class _Trace:
    """What every pass over one trace file shares: its static instructions."""

    def __init__(self, path: Path, header: Header, read_blocks: Reader):
        self._path, self._header, self._read_blocks = path, header, read_blocks
        self.code = Code()

    @cached_property
    def _statics(self) -> Statics:
        return Statics(self.code, self._header.architecture, self._header.tracer)

    def ctas(self) -> Iterator[Cta]:
        """Stream the thread blocks from the start."""
        return self._read_blocks(self._path, self._header, self._statics)

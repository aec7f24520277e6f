"""The systems that come with the simulator: one data file each, and how they are found.

``DGX_H100.toml`` beside this file is all there is to ``system("DGX_H100")``; users name one of
these, or a file of their own. As in those of GPUs each parameter stands with its source.
"""

import os
from pathlib import Path

import msgspec

from lockstep import toml_files
from lockstep.errors import SpecError, unknown
from lockstep.gpus import datafile, library
from lockstep.gpus.fabric import FabricSpec
from lockstep.gpus.spec import GPU
from lockstep.gpus.system import MOST_GPUS, GpuSystem, SystemSpec

_FOLDER = Path(__file__).parent
TIMED = "host.copy=timed"  # what joins GPUs is their host, and its time


def names() -> list[str]:
    """The systems of the library, sorted."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def spec(name_or_path: str | os.PathLike) -> SystemSpec:
    """The specification with a name (in any case), or of a data file.

    Raises :class:`SpecError` for an unknown name or what is no system, :class:`InputError` if a
    file cannot be read.
    """
    return _read(_find(name_or_path))[0]


def sources(name_or_path: str | os.PathLike) -> dict[str, str]:
    """Where each parameter that a data file states comes from, by dotted name."""
    return _read(_find(name_or_path))[1]


def system(
    name: str | os.PathLike | SystemSpec, count: int | None = None, changes: tuple[str, ...] = ()
) -> GpuSystem:
    """A system with its GPUs, of which the host takes time.

    ``count``: only so many of them, the first ones; ``changes``: of all, as ``--set`` has them.
    Raises :class:`SpecError` for a system with fewer, and for what no GPU can be changed to.
    """
    found = name if isinstance(name, SystemSpec) else spec(name)
    gpus = found.gpus if count is None else found.gpus[:count]
    if count is not None and len(gpus) != count:
        raise SpecError(f"{count} GPUs of {found.name}: it has {len(found.gpus)}")
    all_changes = [TIMED, *found.changes, *changes]
    read = {gpu: library.apply(library.gpu(gpu), all_changes) for gpu in dict.fromkeys(gpus)}
    return GpuSystem(found, tuple(read[gpu] for gpu in gpus))


def on_switch(gpu: GPU, count: int) -> GpuSystem:
    """So many of one GPU behind a PCIe switch, at the other end of their links to the host.

    Raises :class:`SpecError` unless ``count`` is 1 to MOST_GPUS.
    """
    if not 1 <= count <= MOST_GPUS:
        raise SpecError(f"{count} GPUs: expected 1 to {MOST_GPUS}")
    timed = library.apply(gpu, [TIMED])
    what = SystemSpec(
        name=f"{count} x {gpu.name}",
        description=f"{count} of {gpu.name} behind a PCIe switch",
        gpus=(gpu.name,) * count,
        fabric=FabricSpec(topology="pcie", packet_bytes=timed.host.page_bytes),
    )
    return GpuSystem(what, (timed,) * count)


def _read(path: Path) -> tuple[SystemSpec, dict[str, str]]:
    content = toml_files.read(path, "system file")
    tree: dict = {"name": path.stem, "fabric": {}}
    found: dict[str, str] = {}
    try:
        for name, leaf in datafile.leaves(content):
            *parents, last = name.split(".")
            if parents not in ([], ["fabric"]):
                raise SpecError(f"{name}: a system has parameters of its own and of its fabric")
            place = tree["fabric"] if parents else tree
            place[last], found[name] = datafile.value_and_source(name, leaf)
        return msgspec.convert(tree, SystemSpec), found
    except (SpecError, msgspec.ValidationError) as error:
        raise SpecError(f"{path}: {error}") from None


def _find(name: str | os.PathLike) -> Path:
    text = os.fspath(name)
    if not isinstance(name, str) or text.endswith(".toml") or os.sep in text:
        return Path(text)
    for known in names():
        if known.lower() == text.lower():
            return _FOLDER / f"{known}.toml"
    raise SpecError(f"{unknown('system', text, names())} (known: {', '.join(names())})")

"""GPU data files: TOML, one file a GPU, where each parameter stands with its source.

``count = [80, "NVIDIA datasheet"]`` in the table ``[sm]`` is the parameter ``sm.count``. A file
may start from another GPU (``base = "QV100"``, or a path beside it) and may drop groups of
parameters of it (``remove = ["sm.units.int"]``). The GPU is named after its file.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from lockstep import toml_files
from lockstep.errors import SpecError, unknown
from lockstep.gpus.check import check
from lockstep.gpus.fields import GpuParameter, accept, build, flatten, parameter
from lockstep.gpus.spec import GPU

KIND = "GPU data file"
MAX_BASES = 8  # a chain of bases longer than this is a circle


class LoadedGpu(NamedTuple):
    """A GPU and, by dotted name, where each of its parameters comes from."""

    gpu: GPU
    sources: dict[str, str]


class Entries(NamedTuple):
    """What a data file says itself, without its base: parameters with their sources."""

    values: dict[str, object]
    sources: dict[str, str]
    base: str | None
    removed: tuple[str, ...]


LoadBase = Callable[[str, Path, int], LoadedGpu]
"""Reads the GPU with a name, or in a file relative to a folder, that so many files begin with."""


class _SpecErrorInFile(SpecError):
    """Already says in which file; a file that has that one as its base adds nothing."""


def load(path: Path, base: LoadBase, depth: int = 0) -> LoadedGpu:
    """Read a data file that ``depth`` others begin with, one by one; ``base`` reads its base.

    Raises :class:`InputError` if the file cannot be read or is no TOML, :class:`SpecError` if a
    parameter does not exist, has no source, or a value outside its range.
    """
    try:
        content = toml_files.read(path, KIND)
        values, sources = _base(content, path, base, depth)
        known = dict(values)
        for name, leaf in leaves(content):
            values[name], sources[name] = _leaf(name, leaf, known)
        gpu = check(build(path.stem, values))
    except _SpecErrorInFile:
        raise
    except SpecError as error:
        raise _SpecErrorInFile(f"{path}: {error}") from None
    return LoadedGpu(gpu, {name: sources.get(name, "default") for name in flatten(gpu)})


def read_entries(path: Path, known: dict[str, object]) -> Entries:
    """What a data file says without its base; ``known``: parameters to suggest.

    Raises as :func:`load` does. Whether the parameters work together is not looked at.
    """
    content = toml_files.read(path, KIND)
    try:
        base, removed = _beginning(content)
        found = {name: _leaf(name, leaf, known) for name, leaf in leaves(content)}
    except SpecError as error:
        raise _SpecErrorInFile(f"{path}: {error}") from None
    values = {name: value for name, (value, _) in found.items()}
    sources = {name: source for name, (_, source) in found.items()}
    return Entries(values, sources, base, tuple(removed))


def _base(
    content: dict, path: Path, load_base: LoadBase, depth: int
) -> tuple[dict[str, object], dict[str, str]]:
    base, removed = _beginning(content)
    if base is None:
        values, sources = {}, {}
    elif depth >= MAX_BASES:
        raise SpecError(f"base = {base}: the bases form a circle or a chain over {MAX_BASES}")
    else:
        loaded = load_base(base, path.parent, depth + 1)
        values, sources = flatten(loaded.gpu), _inherited(loaded)
        values["validated"], sources["validated"] = (), "not compared with hardware yet"
    for name in removed:
        inside = [key for key in values if key == name or key.startswith(name + ".")]
        if not inside:
            raise SpecError("remove: " + unknown("parameter", name, values))
        for key in inside:
            del values[key]
    return values, sources


def _beginning(content: dict) -> tuple[str | None, list[str]]:
    """Take ``base`` and ``remove`` out of the content."""
    base, removed = content.pop("base", None), content.pop("remove", [])
    if not (isinstance(removed, list) and all(isinstance(name, str) for name in removed)):
        raise SpecError("remove: expected a list of dotted names")
    if base is not None and not isinstance(base, str):
        raise SpecError("base: expected the name of a GPU or of a file")
    return base, removed


def _inherited(base: LoadedGpu) -> dict[str, str]:
    prefix = f"as {base.gpu.name}: "
    return {
        name: source if source.startswith("as ") else prefix + source
        for name, source in base.sources.items()
    }


def leaves(content: dict, prefix: str = "") -> Iterator[tuple[str, object]]:
    """(dotted name, what stands there) of everything in the file that is no table."""
    for key, value in content.items():
        name = prefix + key
        if "." in key or not key:
            raise SpecError(f"{name}: expected a name without dots in quotes")
        if isinstance(value, dict):
            yield from leaves(value, name + ".")
        else:
            yield name, value


def _leaf(name: str, leaf: object, known: dict[str, object]) -> tuple[object, str]:
    value, source = value_and_source(name, leaf, parameter(name, known))
    return accept(name, value, known), source


def value_and_source(
    name: str, leaf: object, wanted: GpuParameter | None = None
) -> tuple[object, str]:
    """What stands at a name in a data file; ``wanted``: what the value may be."""
    if not (isinstance(leaf, list) and len(leaf) == 2 and isinstance(leaf[1], str)):
        expected = f", the value {wanted.expected}" if wanted else ""
        raise SpecError(
            f'{name}: expected [value, "source"]{expected}; every number names its source'
        )
    value, source = leaf
    if not source.strip():
        raise SpecError(f"{name}: the source is empty")
    return value, source

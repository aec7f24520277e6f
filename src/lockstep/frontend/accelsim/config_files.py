"""Which files a configuration of Accel-Sim is made of.

Accel-Sim keeps the two files of a GPU in two trees, under the same name: ``trace.config`` in
``gpu-simulator/configs/tested-cfgs/NAME`` and ``gpgpusim.config`` in
``gpu-simulator/gpgpu-sim/configs/tested-cfgs/NAME``. Where it ran, both are in one folder.
"""

from collections.abc import Iterator
from pathlib import Path

from lockstep.errors import InputError

GPU_FILE, TRACE_FILE = "gpgpusim.config", "trace.config"
SUFFIX = ".config"
_MOST_LEVELS = 6  # upwards, from a folder to the one that holds both trees
_TREES = {
    GPU_FILE: ("gpgpu-sim/configs/tested-cfgs", "gpu-simulator/gpgpu-sim/configs/tested-cfgs"),
    TRACE_FILE: ("configs/tested-cfgs", "gpu-simulator/configs/tested-cfgs"),
}


def find(path: Path) -> tuple[Path, Path | None]:
    """The ``gpgpusim.config`` and, if there is one, the ``trace.config`` of a file or a folder.

    Either file, or its folder, stands for both. Raises :class:`InputError` if there is no
    ``gpgpusim.config``.
    """
    folder = path if path.is_dir() else path.parent
    if not path.is_dir() and path.name != TRACE_FILE:
        return path, _beside(folder, TRACE_FILE)
    found = _beside(folder, GPU_FILE)
    if found is None:
        what = "a folder" if path.is_dir() else "one half of a configuration"
        raise InputError(
            path,
            "",
            f"{what} without {GPU_FILE}, here and in {_TREES[GPU_FILE][1]}/{folder.name}; "
            f"expected a GPU's name, a TOML file, or a configuration of Accel-Sim",
        )
    return found, _beside(folder, TRACE_FILE)


def _beside(folder: Path, name: str) -> Path | None:
    """A file in a folder, or in the folder of that name in the other tree."""
    return next((place for place in _places(folder, name) if place.is_file()), None)


def _places(folder: Path, name: str) -> Iterator[Path]:
    yield folder / name
    whole = folder.resolve()
    for level in whole.parents[:_MOST_LEVELS]:
        for tree in _TREES[name]:
            yield level / tree / whole.name / name

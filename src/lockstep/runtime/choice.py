"""Which GPU of the library suits a program, by the code that it carries."""

from pathlib import Path

from lockstep import api
from lockstep.errors import InputError
from lockstep.gpus.spec import GPU
from lockstep.isa.sass.binary import Image, images_of

DEFAULT = "A100"  # where the program's own file has no GPU code: scripts, code in libraries


def gpu_for_program(path: Path) -> GPU:
    """The GPU of one chip whose own architecture is the newest that the program has code for.

    Where no GPU of the library has that architecture, the next newer one, which runs its PTX. Code
    that is newer than the whole library is passed over.
    """
    known = map(api.gpu, api.gpu_names())
    gpus = [gpu for gpu in known if gpu.architectures and gpu.modules.count == 1]
    newest = max(max(gpu.architectures) for gpu in gpus)
    carried = (image.architecture for image in _images(path))
    wanted = max((code for code in carried if code <= newest), default=0)
    newer = [gpu for gpu in gpus if max(gpu.architectures) >= wanted > 0]
    return min(newer, key=lambda gpu: max(gpu.architectures)) if newer else api.gpu(DEFAULT)


def _images(path: Path) -> list[Image]:
    with path.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            return []
    try:
        return images_of(path.read_bytes(), path)
    except InputError:  # no code: it may be in a library
        return []

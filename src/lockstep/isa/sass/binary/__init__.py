"""GPU binaries: cubins, and the fat binaries in which programs carry them.

``fatbinary.py`` finds images, ``cubin.py`` reads one, with ``sections.py``, ``information.py``
(what a kernel needs), ``relocation.py`` and ``lines.py``; ``listing.py`` is its disassembly.
"""

from lockstep.isa.sass.binary.cubin import Cubin, CubinSymbol, Function, Relocation, read_cubin
from lockstep.isa.sass.binary.fatbinary import (
    Image,
    best_image,
    images_of,
    objects_of,
    read_images,
)
from lockstep.isa.sass.binary.information import CubinParameter
from lockstep.isa.sass.binary.lines import Line, line_at, lines
from lockstep.isa.sass.binary.listing import listing
from lockstep.isa.sass.binary.relocation import (
    CODE,
    DESCRIPTORS,
    relocated,
    relocated_functions,
    span,
)

__all__ = [
    "CODE",
    "DESCRIPTORS",
    "Cubin",
    "CubinParameter",
    "CubinSymbol",
    "Function",
    "Image",
    "Line",
    "Relocation",
    "best_image",
    "images_of",
    "line_at",
    "lines",
    "listing",
    "objects_of",
    "read_cubin",
    "read_images",
    "relocated",
    "relocated_functions",
    "span",
]

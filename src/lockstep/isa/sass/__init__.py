"""SASS, NVIDIA's machine code, Kepler to Blackwell: opcode tables, and text or traces to records.

``lift`` serves trace readers, ``assembly.py`` hand-written kernels. Opcodes are data: ``tables/``.
"""

from lockstep.isa.sass.lifting import lift, traced_immediate
from lockstep.isa.sass.opcodes import MEMORY_CLASSES, is_known, opcodes, unlisted
from lockstep.isa.sass.registers import register_number
from lockstep.isa.sass.spelling import spellings

__all__ = [
    "MEMORY_CLASSES",
    "is_known",
    "lift",
    "opcodes",
    "register_number",
    "spellings",
    "traced_immediate",
    "unlisted",
]

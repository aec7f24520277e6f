"""PTX: NVIDIA's virtual instruction set, from text to a checked syntax tree.

``syntax.py`` is the tree, ``parser.py`` makes it, of the tokens of ``lexer.py``: ``headers.py``,
``declarations.py`` with ``initialisers.py``, and ``bodies.py`` with ``operands.py``, over
``expressions.py`` and ``literals.py``. ``scopes.py`` and ``names.py`` say what names mean,
``lines.py`` which source line an instruction is of. ``linking.py`` makes one module of several.
"""

from lockstep.isa.ptx.parser import parse
from lockstep.isa.ptx.syntax import Function, Instruction, Module

__all__ = ["Function", "Instruction", "Module", "parse"]

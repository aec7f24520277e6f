"""PTX: NVIDIA's virtual instruction set, from text to a checked syntax tree."""

from lockstep.isa.ptx.parser import parse
from lockstep.isa.ptx.syntax import Function, Instruction, Module

__all__ = ["Function", "Instruction", "Module", "parse"]

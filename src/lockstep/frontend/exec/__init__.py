"""Functional execution: code of an instruction set becomes machine code over vectors of lanes."""

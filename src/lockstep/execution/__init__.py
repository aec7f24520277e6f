"""Functional execution: code of an instruction set becomes machine code over vectors of lanes.

To be read in this order: ``state.py`` (the records that all share), ``lanes/`` (the builder of
LLVM code), ``flow/`` (blocks, liveness, loops), ``ptx/``, ``sass/`` and ``gcn/`` (instruction sets
lifted onto both), ``programs/`` (what comes out, kept and loaded), ``memory/`` (of the device),
``scheduling/`` (which block runs next), ``streams/`` (what the timing model reads), ``launches/``
(a kernel from start to end), ``checks/`` (mistakes that are looked for).
"""

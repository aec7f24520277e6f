"""Lanes to LLVM: a builder whose values are vectors with one element a GPU thread.

It knows no instruction set: PTX and machine code are lifted onto it. ``types.py`` and
``builder.py`` first; the other files are operations. ``scalars.py`` is for values that a warp
holds once.
"""

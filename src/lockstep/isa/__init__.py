"""What an instruction is, whatever set it comes from (``instruction.py``), and the sets.

``ptx/``: PTX from text to a checked tree. ``sass/``: NVIDIA's machine code as text, as bits and in
binaries. ``gcn/``: that of AMD's Southern Islands.
"""

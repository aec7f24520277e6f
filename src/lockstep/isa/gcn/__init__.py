"""Southern Islands, AMD's first GCN: its instructions, and the kernel binaries that hold them.

``instruction.py`` has the noun and ``layout.py`` the bits; ``operations.py`` reads ``tables/``,
where each opcode is a line. ``decode.py`` makes instructions of bytes, ``spelling.py`` text of
instructions, in LLVM's syntax. ``container.py`` reads the files of AMD's OpenCL compiler, with
``elf.py``, ``notes.py`` and ``metadata.py``; ``listing.py`` shows what they hold.
"""

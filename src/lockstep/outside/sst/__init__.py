"""The element library for SST: C++ that is compiled where SST is installed.

``lockstep.cc``: its components; ``frames.h``: what crosses, for any simulator that is written in
C++; ``build.py`` compiles.
"""

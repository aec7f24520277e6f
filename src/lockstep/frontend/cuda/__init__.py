"""CUDA programs: the calls that they make, the library that intercepts them, the call record.

``calls.py`` has every call with its form, ``shim/`` the library in C, ``build.py`` compiles it;
``record.py`` is the file of calls that are executed again without the program.
"""

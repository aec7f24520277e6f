"""Proxies: memory behaviour of a program without the program.

``profiling.py`` makes one, of a workload or of what a device launches, by a method that finds the
models of kernels (``profiles.py``): ``affine/`` or ``gmap/``. ``regions.py`` says which memory
there is, ``levels/`` how much is told. ``agreement.py`` says how well a proxy stands for its
original, ``leaks.py`` and ``identify.py`` what it tells of it, ``checking.py`` both.
"""

from lockstep.frontend.proxy import Proxy
from lockstep.proxies.profiling import METHODS, ProxyProfiler, profile

__all__ = ["METHODS", "Proxy", "ProxyProfiler", "profile"]

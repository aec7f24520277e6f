"""Proxies: what is kept of how a program accesses memory, and workloads made of it.

``proxy.py`` says what a proxy is, ``records.py`` what it consists of beside models of kernels, and
``model.py`` what such a model is: there may be several kinds, each of which registers itself and is
named in :data:`METHODS`. ``container.py`` is the file, ``tables.py`` its columns of commands.
"""

from lockstep.frontend.proxy.container import is_proxy
from lockstep.frontend.proxy.model import METHODS, KernelModel, Launched, register
from lockstep.frontend.proxy.proxy import LEVELS, Proxy
from lockstep.frontend.proxy.records import ProxyAllocation, ProxyCopy, ProxyLaunch

__all__ = [
    "LEVELS",
    "METHODS",
    "KernelModel",
    "Launched",
    "Proxy",
    "ProxyAllocation",
    "ProxyCopy",
    "ProxyLaunch",
    "is_proxy",
    "register",
]

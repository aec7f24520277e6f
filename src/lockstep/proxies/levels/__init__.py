"""How much a proxy tells: the levels of privacy.

``plain``: all of it. ``hidden.py``: names, places of instructions, addresses and the order of
allocations are others. ``blurred.py``: extents and strides are rounded, too, and counts have noise;
``rounding.py`` has both. What is kept word by word of irregular accesses is in no proxy but a plain
one: ``literals.py``. What stays to be seen is measured by ``proxies/leaks.py`` and
``proxies/identify.py``.
"""

from lockstep.proxies.levels.level import EPSILON, at_level
from lockstep.proxies.levels.literals import without_literals

__all__ = ["EPSILON", "at_level", "without_literals"]

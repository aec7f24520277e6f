"""Lists of the free records of a pool, linked through a field of theirs.

The link of a free record is its successor plus one; 0, which it is before the record's first use,
means the record behind it. So a pool of any size is ready without being touched, and the list is
empty when its head is behind the last record.
"""

import numpy as np

from lockstep._jit import force_inline

_ONE = np.int64(1)  # a NumPy integer: without JIT, sums stay 64-bit


@force_inline
def after(link, index):
    """The free record behind record ``index``, whose link is ``link``: the new head."""
    return link - _ONE if link > 0 else index + _ONE


@force_inline
def link_to(head):
    """The link of a record that becomes the new head in front of ``head``."""
    return head + _ONE

"""Owners of shards, as the functions of links take them."""

import numpy as np


def of_owner(joined, first, last):
    """All shards of either end of a link, of which first..last-1 are meant: owners, and the one."""
    owners = np.full(max(joined.credits.shape), -1)
    owners[first:last] = 3
    return owners, 3

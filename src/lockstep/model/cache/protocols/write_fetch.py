"""L2: as write-validate, but every write miss reads the sector first (GPGPU-Sim's ``W``).

The acknowledgement does not wait for it: what was written lies beside, and data merges with it.
"""

import numpy as np

from lockstep._jit import force_inline
from lockstep.model.cache.protocols.write_validate import (
    atomic,
    fill,
    owed,
    paid,
    probe,
    readable,
)

__all__ = [
    "atomic",
    "fill",
    "owed",
    "paid",
    "probe",
    "readable",
    "wanted",
    "write",
    "written",
]


@force_inline
def write(way, sectors, full):
    """The sectors are dirty; those that are not here are on their way."""
    way.partial |= sectors & ~way.valid
    way.dirty |= sectors


@force_inline
def written(way):
    """A write finds what is here and not on its way."""
    return (way.valid | way.partial) & ~way.pending


@force_inline
def wanted(way, sectors):
    """What is neither here nor on its way."""
    return np.int64(sectors & ~way.valid & ~way.pending)

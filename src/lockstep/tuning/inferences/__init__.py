"""All inferences, in the order in which they are made: one file a group of parameters.

A later one may use the parameters of those before.
"""

from lockstep.tuning.inference import Inference
from lockstep.tuning.inferences import (
    copies,
    device,
    fetch,
    launch,
    memory,
    operations,
    shared,
    synchronisation,
)

INFERENCES: tuple[Inference, ...] = (
    *device.INFERENCES,
    *launch.INFERENCES,
    *operations.INFERENCES,
    *shared.INFERENCES,
    *synchronisation.INFERENCES,
    *memory.INFERENCES,
    *fetch.INFERENCES,
    *copies.INFERENCES,
)

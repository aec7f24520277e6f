"""What becomes of a launch."""

from enum import Enum


class Treatment(Enum):
    """What is done with a launch on a device with timing; without, all are executed."""

    SIMULATE = "simulate"  # executed and simulated: it has cycles and metrics
    WARM = "warm"  # executed, and the caches of the GPU are left as it leaves them
    EXECUTE = "execute"  # executed only: the GPU does not notice

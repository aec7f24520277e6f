"""The samplers, a file each. Importing this package lists all of them."""

from lockstep.sampling.samplers import random_launches, systematic

__all__ = ["random_launches", "systematic"]

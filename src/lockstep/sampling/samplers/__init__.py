"""The samplers, a file each. Importing this package lists all of them."""

from lockstep.sampling.samplers import bounded, random_launches, systematic

__all__ = ["bounded", "random_launches", "systematic"]

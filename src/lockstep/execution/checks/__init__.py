"""Checks of what kernels do: accesses outside memory, reads of what nobody wrote, races."""

"""The warp of NVIDIA's instruction sets: what shuffles, votes and matrix products are defined for.

Written for PTX and SASS alone. What does not depend on an instruction set gets the width of its
warps as a value.
"""

WARP_LANES = 32
ALL_LANES = (1 << WARP_LANES) - 1  # a mask of them

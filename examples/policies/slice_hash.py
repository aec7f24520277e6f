"""A slice hash of your own: plain interleaving, which power-of-two strides defeat.

Run it as ``python examples/policies/slice_hash.py``.
"""

from pathlib import Path

import lockstep

TRACE = Path(__file__).parents[1] / "gemm.lst"
GPU = lockstep.gpu("QV100", ["dram.channels=2"])  # four slices for 80 SMs
BLOCK = GPU.l2.interleave_bytes  # consecutive bytes of one slice


def interleaved(line_address, slices):
    """Block after block, slice after slice. Compiled code takes BLOCK as a constant."""
    return line_address // BLOCK % slices


def main():
    without = lockstep.simulate(TRACE, GPU)
    with_it = lockstep.simulate(TRACE, GPU, slice_hash=interleaved)
    print(f"polynomial hash:     {without.cycles:,} cycles")
    print(f"plain interleaving:  {with_it.cycles:,} cycles")


if __name__ == "__main__":
    main()

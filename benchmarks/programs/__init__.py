"""Programs that are measured beside the built-in ones. Of many launches: gaussian, gramschmidt,
fdtd2d and decoder; of much memory: perceptron, diffusion and tracking.

Of each a ``.cu`` file with its kernels, their PTX, and a definition as that of a built-in kernel:
inputs, launches, and what NumPy would have computed. After a change of a ``.cu`` file::

    pip install 'lockstep-gpu[cuda]'
    python benchmarks/programs/build.py [NAME ...]
"""

import importlib

from lockstep import kernels
from lockstep.kernels import BuiltinKernel

NAMES = (
    "decoder", "diffusion", "fdtd2d", "gaussian", "gramschmidt", "perceptron", "tracking",
)  # fmt: skip


def load(name: str) -> BuiltinKernel:
    """A program of this folder, or a built-in kernel."""
    if name not in NAMES:
        return kernels.load(name)
    return getattr(importlib.import_module(f"{__name__}.{name}"), name)

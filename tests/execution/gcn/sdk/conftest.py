"""The kernels of AMD's APP SDK 2.5, which are not the project's: where they lie, how they run.

``LOCKSTEP_SDK_BINARIES`` names a folder with the SDK's ``*_Kernels.bin``, compiled for Tahiti. What
each kernel is to compute is written here in NumPy.
"""

import os
from pathlib import Path

import numpy as np
import pytest

import lockstep

VARIABLE = "LOCKSTEP_SDK_BINARIES"


@pytest.fixture(scope="session")
def binaries():
    """The folder of binaries."""
    if VARIABLE not in os.environ:
        pytest.skip(f"needs the binaries of AMD's APP SDK 2.5, in a folder that {VARIABLE} names")
    return Path(os.environ[VARIABLE])


@pytest.fixture(scope="session")
def sdk_device():
    """One device for all: what its memory holds grows, but little."""
    with lockstep.Device("QV100", timing=False) as device:
        yield device


@pytest.fixture
def load(binaries, sdk_device):
    """Function from a program's name to the device and the module of its kernels."""

    def of(name):
        return sdk_device, sdk_device.load_gcn(binaries / f"{name}_Kernels.bin")

    return of


@pytest.fixture
def rng():
    """Inputs from a fixed seed."""
    return np.random.default_rng(25)

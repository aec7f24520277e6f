"""What the hosts of this folder share: their command line, and what they say at the end."""

import argparse
from pathlib import Path

import numpy as np

import lockstep


def main(description, run, binary, size, unit):
    """Run a host: ``run(device, module, rng, size)`` makes launches and yields checks.

    ``binary``: the file's name in the folder that ``--binaries`` names.
    """
    parser = argparse.ArgumentParser(description=description.strip().splitlines()[0])
    parser.add_argument("--binaries", type=Path, required=True, metavar="DIR", help=f"has {binary}")
    parser.add_argument("--size", type=int, default=size, metavar="N", help=f"{unit} ({size})")
    parser.add_argument("--seed", type=int, default=1, help="of the inputs (1)")
    parser.add_argument("--gpu", default="HD7770", help="a name that lockstep gpus lists (HD7770)")
    parser.add_argument("--timing", action="store_true", help="simulate, and print cycles")
    chosen = parser.parse_args()
    try:
        with lockstep.Device(chosen.gpu, timing=chosen.timing) as device:
            module = device.load_gcn(chosen.binaries / binary)
            for check in run(device, module, np.random.default_rng(chosen.seed), chosen.size):
                check.verify()
                print(f"{check.name}: right")
            if chosen.timing:
                print(lockstep.summary(device.result))
    except lockstep.LockstepError as error:
        parser.exit(1, f"{parser.prog}: {error}\n")

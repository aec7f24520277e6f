"""All checks over all built-in programs, from PTX and from machine code: there must be no findings.

    python scripts/check_builtins.py [PROGRAM ...]

Exit code 1 if there is any, or a result is wrong.
"""

import sys
from pathlib import Path

import msgspec
import zstandard

import lockstep
from lockstep import kernels

CUBINS = Path(__file__).parents[1] / "tests" / "device" / "cubins"
GPUS = {"sm_70": "QV100", "sm_80": "A100", "sm_90": "H100"}


class CubinDevice(lockstep.Device):
    """Loads machine code in place of a program's PTX."""

    def __init__(self, cubins: dict[str, bytes], *arguments, **options):
        super().__init__(*arguments, **options)
        self._cubins = cubins

    def load_ptx(self, source, *arguments, **options):
        """The machine code of the same program."""
        return self.load_cubin(self._cubins[source.stem])


def run(device: lockstep.Device, name: str, code: str) -> int:
    """Run a program and print its findings; how many there were."""
    program = kernels.load(name)
    with device:
        for check in program.run(device, program.small):
            check.verify()
        found = list(device.findings)
    print(f"{name}, {code}: {len(found)} findings", *found, sep="\n  ", flush=True)
    return len(found)


def main() -> int:
    """Run what was asked for, or all."""
    names, total = sys.argv[1:] or kernels.names(), 0
    for name in names:
        total += run(lockstep.Device(GPUS[kernels.load(name).arch], check="all"), name, "PTX")
    for arch, gpu in GPUS.items():
        content = (CUBINS / f"{arch}.zst").read_bytes()
        cubins = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(content))
        for name in filter(cubins.__contains__, names):
            total += run(CubinDevice(cubins, gpu, check="all"), name, arch)
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())

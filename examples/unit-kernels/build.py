"""Compile the unit kernels to PTX and to machine code, both for sm_80, with nvcc 13.

Run it as ``python examples/unit-kernels/build.py``, without a GPU. Sources are compiled from their
own folder, so that no path of this machine is in what comes of them.
"""

import subprocess
import tempfile
from pathlib import Path

import zstandard

FOLDER = Path(__file__).parent
GROUPS = ("blas", "sparse", "common", "batched_serial", "batched_team")
KINDS = {"ptx": ("-ptx", "-arch=compute_80"), "cubin": ("-cubin", "-arch=sm_80")}
LEVEL = 19  # of zstandard


def compiled(group: str, kind: str) -> bytes:
    """What nvcc makes of a group."""
    with tempfile.TemporaryDirectory() as place:
        output = Path(place) / "output"
        command = ["nvcc", "-std=c++17", *KINDS[kind], "-o", output, f"{group}.cu"]
        subprocess.run(command, check=True, cwd=FOLDER)
        return output.read_bytes()


def main() -> None:
    """Build all groups."""
    for group in GROUPS:
        for kind in KINDS:
            packed = zstandard.ZstdCompressor(level=LEVEL).compress(compiled(group, kind))
            (FOLDER / f"{group}.{kind}.zst").write_bytes(packed)
            print(f"{group}.{kind}.zst: {len(packed):,} bytes")


if __name__ == "__main__":
    main()

"""Assembles the programs of ``tests/ptx_twin/hopper.py`` to machine code of sm_90a.

Development only, with an assembler of CUDA 13::

    PYTHONPATH=tests python scripts/sass_hopper.py --ptxas ptxas
"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

import cubin_files
from ptx_twin.hopper import PATH, digest, texts

TARGET = "sm_90a"
VERSION = "8.8"  # of PTX


def assemble(text: str, ptxas: str, folder: Path) -> bytes:
    """The cubin of a module, which may be written for a smaller target."""
    source, cubin = folder / "k.ptx", folder / "k.cubin"
    text = re.sub(r"\.target sm_\w+", f".target {TARGET}", text, count=1)
    source.write_text(re.sub(r"\.version [\d.]+", f".version {VERSION}", text, count=1))
    subprocess.run([ptxas, f"-arch={TARGET}", source, "-o", cubin], check=True)
    return cubin.read_bytes()


def main() -> None:
    """Write all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ptxas", default="ptxas")
    ptxas = parser.parse_args().ptxas
    with tempfile.TemporaryDirectory() as folder:
        found = {digest(text): assemble(text, ptxas, Path(folder)) for text in texts()}
    PATH.write_bytes(cubin_files.pack(found))
    print(f"{len(found)} programs, {PATH.stat().st_size} bytes")


if __name__ == "__main__":
    main()

"""Compile the kernels that ``lockstep study`` lays beside an H100 to the package's cubins.

Run it as ``python scripts/study_cubins.py``, with nvcc 13. Sources are compiled from their own
folder, so that no path of this machine is in a cubin.
"""

import lzma
import subprocess
import tempfile
from pathlib import Path

from lockstep import kernels
from lockstep.studies import find, names
from lockstep.studies.code import ARCHITECTURE, file_of

FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 20}]


def compiled(source: Path) -> bytes:
    """A cubin by nvcc."""
    with tempfile.TemporaryDirectory() as place:
        output = Path(place) / "cubin"
        command = ["nvcc", "-O3", "-std=c++17", "-cubin", f"-arch=sm_{ARCHITECTURE}"]
        subprocess.run([*command, "-o", output, source.name], check=True, cwd=source.parent)
        return output.read_bytes()


def main() -> None:
    """Compile the programs of each study that asks for machine code."""
    for study in map(find, names()):
        for program in study.programs if study.machine_code else ():
            cubin = compiled(kernels.load(program.name).source)
            packed = lzma.compress(cubin, format=lzma.FORMAT_XZ, filters=FILTERS)
            output = file_of(program.name)
            output.parent.mkdir(exist_ok=True)
            output.write_bytes(packed)
            print(f"{output.name}: {len(cubin):,} bytes, {len(packed):,} packed")


if __name__ == "__main__":
    main()

"""Assemble the kernels of ``examples/southern-islands`` and of tests: NAME.s to NAME.bin beside it.

Run it as ``python scripts/southern_islands_kernels.py`` after a change of a source. It needs
``llvm-mc`` with the AMDGPU target (``apt install llvm``). A source is assembly text in LLVM's
syntax for Tahiti; what OpenCL's runtime has to know of a kernel stands in comments
(``tests/cal_files.py`` says which), and goes into the binary beside the code.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("examples/southern-islands/kernels", "tests/execution/gcn/kernels")


def main() -> None:
    """Write each binary."""
    sys.path.insert(0, str(ROOT / "tests"))
    from cal_files import from_source

    for source in sorted(path for folder in FOLDERS for path in (ROOT / folder).glob("*.s")):
        content = from_source(source.read_text())
        source.with_suffix(".bin").write_bytes(content)
        print(f"{source.stem}: {len(content)} bytes")


if __name__ == "__main__":
    main()

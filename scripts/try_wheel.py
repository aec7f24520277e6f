"""Build the wheel, install it into an environment of its own, and simulate a trace with it.

What an editable installation or a checkout has by accident, such as data files and examples, a
wheel may lack. Machine code is taken from LOCKSTEP_CACHE_DIR, if it is there.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
CYCLES = 5769  # of vecadd on QV100, as tests/engine pin it
FIND = "from lockstep.kernels.files import home; print(home('vecadd'))"


def main() -> int:
    """Try it; 1 if the result is another one."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        _run(sys.executable, "-m", "pip", "wheel", ROOT, "--no-deps", "-w", place / "dist")
        [wheel] = (place / "dist").glob("*.whl")
        venv.create(place / "venv", with_pip=True)
        programs = place / "venv" / "bin"
        _run(programs / "python", "-m", "pip", "install", wheel)
        trace = _run(programs / "python", "-c", FIND, cwd=place).strip()
        _run(programs / "lockstep", "doctor", cwd=place)
        _run(programs / "lockstep", "simulate", trace, "--gpu", "QV100", "--quiet",
             "--json", "result.json", cwd=place)  # fmt: skip
        cycles = json.loads((place / "result.json").read_text())["total"]["cycles"]
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, vecadd takes {cycles} cycles")
    return int(cycles != CYCLES)


def _run(*command: object, cwd: Path | None = None) -> str:
    """Run a program that knows nothing of the checkout; what it prints."""
    hidden = ("PYTHONPATH", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())

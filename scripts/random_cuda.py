"""Random CUDA programs: their machine code and PTX must compute what C++ does.

``python scripts/random_cuda.py --programs 500`` needs nvcc 13 and g++. It prints what differs, and
exits with 1 if anything does. ``--scale large`` makes longer programs, ``--timing`` simulates them
too, ``--at-issue`` executes them as they are simulated, ``--profile`` counts what they do,
``--check all`` looks for mistakes in them, which have none; what follows ``--nvcc`` goes to the
compiler, such as ``--nvcc=-O0`` or ``--nvcc=-G``. ``--keep DIR`` leaves the source of each batch,
and its PTX and cubins, where it can be looked at.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from cuda_twin.build import FORMS, Built
from cuda_twin.comparison import GPUS, compare
from cuda_twin.generator import program
from cuda_twin.statements import LARGE, MEDIUM, SMALL
from cuda_twin.survey import surveys

BATCH = 20  # programs of a file
SCALES = {"small": SMALL, "medium": MEDIUM, "large": LARGE}


def main() -> int:
    """Compare programs, batch after batch."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--programs", type=int, default=500, help="how many [500]")
    parser.add_argument("--seed", type=int, default=0, help="of the first one [0]")
    parser.add_argument("--scale", choices=SCALES, default="medium", help="[medium]")
    parser.add_argument("--survey", action="store_true", help="all forms of expressions in a few")
    parser.add_argument("--timing", action="store_true", help="simulate launches, too")
    parser.add_argument("--at-issue", action="store_true", help="execute them at issue")
    parser.add_argument("--profile", action="store_true", help="count what they do")
    parser.add_argument("--check", help="memory, init, races or all: they have no mistakes")
    parser.add_argument("--nvcc", action="append", default=[], help="an option of nvcc")
    parser.add_argument("--keep", type=Path, help="a folder for sources and binaries")
    parser.add_argument(
        "--arch", choices=GPUS, nargs="+", help="PTX and machine code of these [80, and code of 90]"
    )
    options = parser.parse_args()
    forms = [f"{kind}_{one}" for one in options.arch or () for kind in ("ptx", "sm")] or FORMS
    device = {"timing": options.timing or options.at_issue, "at_issue": options.at_issue}
    device |= {"profile": options.profile, "check": options.check}
    wrong, begin = 0, time.process_time()
    last = options.seed + options.programs
    for first in range(options.seed, last, BATCH):
        seeds = range(first, min(last, first + BATCH))
        if options.survey:
            programs = [one for seed in seeds for one in surveys(seed)]
        else:
            programs = [program(seed, SCALES[options.scale]) for seed in seeds]
        with tempfile.TemporaryDirectory() as scratch:
            # A library of another batch at the same path would be the one that is loaded already.
            folder = (options.keep or Path(scratch)) / str(first)
            folder.mkdir(parents=True, exist_ok=True)
            for mismatch in compare(Built(programs, folder, tuple(options.nvcc), forms), **device):
                wrong += 1
                print(f"{mismatch.name} as {mismatch.form}: {mismatch.problem}", flush=True)
        seconds = time.process_time() - begin
        print(f"{seeds.stop - options.seed} programs, {wrong} differ, {seconds:.0f} s", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())

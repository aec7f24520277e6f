"""Writes all that a machine with a GPU needs to run the suite: sources, plan, driver, script."""

from collections.abc import Iterable
from pathlib import Path

from lockstep.microbench import code, plan
from lockstep.microbench.benchmark import Benchmark, Target

SCRIPT_MODE = 0o755


def export(folder: Path, target: Target, benchmarks: Iterable[Benchmark]) -> int:
    """Write everything into a folder; how many cases its plan has."""
    kernels = folder / "kernels"
    kernels.mkdir(parents=True, exist_ok=True)
    for source in code.package().joinpath("kernels").iterdir():
        if source.name.endswith((".cu", ".cuh")):
            (kernels / source.name).write_bytes(source.read_bytes())
    for source in code.package().joinpath("driver").iterdir():
        (folder / source.name).write_bytes(source.read_bytes())
    (folder / "run.sh").chmod(SCRIPT_MODE)
    lines = list(plan.lines(target, benchmarks))
    (folder / "plan.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return sum(line.startswith("case ") for line in lines)

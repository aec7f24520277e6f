"""Simulate programs of many launches whole: what sampled simulation is compared with.

    python benchmarks/sampling_truth.py --truth DIR [--gpu QV100] [program[:size] ...]

Of each program, one of ``programs`` or a built-in kernel, ``DIR`` gets a launch table of
level 3 with the cycles of every launch, ``PROGRAM-SIZE-GPU.parquet``, and beside it a JSON file
with the processor seconds that the simulation and the profile took. Results are checked with NumPy
once. What is there already is left alone, so that a run that was interrupted can be started again.
"""

import argparse
import json
import sys
from pathlib import Path
from time import process_time
from typing import NamedTuple, Self

import programs

import lockstep
from lockstep.device import Device
from lockstep.errors import LockstepError
from lockstep.gpus.spec import GPU
from lockstep.kernels import BuiltinKernel
from lockstep.sampling import LaunchTable, Profiler

PROGRAMS = (
    "gaussian:208", "gramschmidt:256", "gramschmidt:512", "fdtd2d:128", "lu:768", "needle:2048",
    "bfs:4096", "decoder:64",
)  # fmt: skip
EVERY = 500  # launches between two lines of progress


class Program(NamedTuple):
    """A program and its size."""

    kernel: BuiltinKernel
    size: int

    @classmethod
    def of(cls, text: str) -> Self:
        """From a name that a size may follow, after a colon."""
        name, _, size = text.partition(":")
        kernel = programs.load(name)
        return cls(kernel, int(size) if size else kernel.size)

    @property
    def name(self) -> str:
        """With the size."""
        return f"{self.kernel.name}-{self.size}"

    def run(self, device: Device, size: int | None = None, verify: bool = False) -> float:
        """Launch it all and wait; processor seconds, without those of the check of results."""
        begin = process_time()
        checks = self.kernel.run(device, self.size if size is None else size)
        device.synchronize()
        seconds = process_time() - begin
        for check in checks if verify else ():
            check.verify()
        return seconds


class Truth(NamedTuple):
    """What a full simulation said: a launch table with times, and processor seconds."""

    table: LaunchTable
    simulation: float
    profile: float

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read what :meth:`write` has written."""
        seconds = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        return cls(LaunchTable.read(path), **seconds)

    def write(self, path: Path) -> None:
        """Write the table, which says that all is there, last."""
        seconds = {"simulation": self.simulation, "profile": self.profile}
        path.with_suffix(".json").write_text(json.dumps(seconds) + "\n", encoding="utf-8")
        self.table.write(path)


def place(folder: Path, program: Program, gpu: GPU) -> Path:
    """Where the truth of a program is."""
    return folder / f"{program.name}-{gpu.name}.parquet"


def truth(program: Program, gpu: GPU) -> Truth:
    """Run a program whole: once counting, once timed; each after a small run that compiles."""

    def told(launches: int, _: str) -> None:
        if launches % EVERY == 0:
            print(f"{program.name}: {launches} launches", file=sys.stderr, flush=True)

    seconds, tables = [], []
    for options, level in (({"profile": True}, 3), ({"timing": True}, 0)):
        with Device(gpu, **options) as device:
            Profiler(device, level)
            program.run(device, program.kernel.small)
        with Device(gpu, **options) as device:
            profiler = Profiler(device, level, told=told)
            seconds.append(program.run(device, verify=True))
            tables.append(profiler.table())
    counted, timed = tables
    if counted.digest != timed.digest:
        raise LockstepError(f"{program.name}: its two runs launched different things")
    frame = counted.frame.assign(time=timed.times)
    return Truth(LaunchTable(frame, "cycles", timed.source), seconds[1], seconds[0])


def main() -> None:
    """Make what is not there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    parser.add_argument("--truth", type=Path, required=True, metavar="DIR")
    parser.add_argument("--gpu", default="QV100")
    options = parser.parse_args()
    gpu = lockstep.gpu(options.gpu)
    options.truth.mkdir(parents=True, exist_ok=True)
    for program in map(Program.of, options.programs):
        path = place(options.truth, program, gpu)
        if not path.exists():
            found = truth(program, gpu)
            found.write(path)
            print(
                f"{path.name}: {len(found.table)} launches, {found.table.times.sum():,.0f} cycles; "
                f"{found.simulation:.1f} s to simulate, {found.profile:.1f} s to profile",
                flush=True,
            )


if __name__ == "__main__":
    try:
        main()
    except LockstepError as error:
        sys.exit(str(error))

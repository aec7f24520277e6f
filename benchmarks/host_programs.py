"""Build the host programs of the built-in kernels and run them from their machine code.

Run it as ``python benchmarks/host_programs.py [--arch 70 75 80 90] [NAME ...]``. It needs nvcc 13,
which does not know sm_70: there, the cubins of ``tests/device/cubins`` take the place of nvcc's in
the programs. Of each program the table says what its kernels were executed from, ``sass`` or
``ptx``, if it found its results right. Exit code 1 if one did not.
"""

import argparse
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import zstandard

import lockstep
from lockstep.errors import LockstepError
from lockstep.isa.sass.binary.fatbinary import MAGIC
from lockstep.kernels import load, names
from lockstep.runtime import Simulator, run_program

GPUS = {70: "QV100", 75: "RTX2060", 80: "A100", 86: "RTX3070", 90: "H100"}
WITHOUT_NVCC = (70,)
CUBINS = Path(__file__).parents[1] / "tests" / "device" / "cubins"
_CONTAINER, _ENTRY = struct.Struct("<IHHQ"), struct.Struct("<HHIQIIHHIIIQQQ")
_CUBIN, _VERSION = 2, 0x101


def oldest(name: str) -> int:
    """The first architecture that a program is written for."""
    return int(load(name).arch.removeprefix("sm_"))


def build(name: str, architectures: list[int], folder: Path) -> Path:
    """A program with machine code of several architectures, those that its kernel is written for.

    It has room for a cubin that nvcc cannot make. Raises :class:`LockstepError` if nvcc fails.
    """
    written = {a for a in architectures if a >= oldest(name)}
    wanted = set(GPUS) if written & set(WITHOUT_NVCC) else written
    known = sorted(a for a in wanted if a not in WITHOUT_NVCC and a >= oldest(name))
    codes = [f"-gencode=arch=compute_{a},code=sm_{a}" for a in known]
    codes.append(f"-gencode=arch=compute_{min(known)},code=compute_{min(known)}")
    source, program = load(name).program, folder / name
    options = ["-std=c++17", "-cudart=shared", "--no-compress", *codes]
    command = ["nvcc", *options, "-o", str(program), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise LockstepError(f"nvcc: {done.stderr.strip()}")
    return program


def with_cubin(program: Path, architecture: int) -> Path:
    """A copy of a program that has one committed cubin instead of its largest fat binary."""
    packed = (CUBINS / f"sm_{architecture}.zst").read_bytes()
    cubin = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(packed)).get(
        program.name
    )
    if cubin is None:
        return None
    content = bytearray(program.read_bytes())
    place, room = max(_containers(content), key=lambda found: found[1])
    sizes = _ENTRY.size, len(cubin)
    entry = _ENTRY.pack(_CUBIN, _VERSION, *sizes, 0, 0, 0, 0, architecture, 0, 0, 0, 0, 0)
    header = _CONTAINER.pack(MAGIC, 1, _CONTAINER.size, len(entry) + len(cubin))
    fat = header + entry + cubin
    if len(fat) > room:
        raise LockstepError(f"{program.name}: no room for a cubin of {len(cubin)} bytes")
    content[place : place + room] = fat + bytes(room - len(fat))
    copy = program.with_name(f"{program.name}-sm_{architecture}")
    copy.write_bytes(content)
    copy.chmod(0o755)
    return copy


def _containers(content: bytearray) -> Iterator[tuple[int, int]]:
    """Place and bytes of the fat binaries in a program."""
    place = content.find(MAGIC.to_bytes(4, "little"))
    while place >= 0:
        _, _, header, size = _CONTAINER.unpack_from(content, place)
        if header == _CONTAINER.size:  # else the bytes mean something else
            yield place, header + size
        place = content.find(MAGIC.to_bytes(4, "little"), place + 4)


def run(program: Path, architecture: int) -> str:
    """What a program was executed from, or what went wrong."""
    simulator = Simulator(lockstep.api.gpu(GPUS[architecture]))
    with tempfile.TemporaryFile() as file, Redirected(file.fileno()):
        outcome = run_program(simulator, [str(program)])
        file.seek(0)
        text = file.read().decode(errors="replace")
    simulator.close()
    if outcome.code or not text.endswith("PASS\n"):
        return f"WRONG: {(text.splitlines() or [f'exit code {outcome.code}'])[-1]}"
    codes = {count.code for count in simulator.kernels.values()}
    kinds = " and ".join(sorted("ptx" if code == "PTX" else "sass" for code in codes))
    return f"{kinds}: {simulator.problems[0]}" if simulator.problems else kinds


class Redirected:
    """Standard output and error of this process and its children go to a file."""

    def __init__(self, file: int):
        self._file = file

    def __enter__(self) -> None:
        self._kept = os.dup(1), os.dup(2)
        for number in (1, 2):
            os.dup2(self._file, number)

    def __exit__(self, *_) -> None:
        for number, kept in zip((1, 2), self._kept):
            os.dup2(kept, number)
            os.close(kept)


def results(name: str, architectures: list[int], folder: Path) -> dict[int, str]:
    """What became of a program on each architecture."""
    program, found = build(name, architectures, folder), {}
    for architecture in architectures:
        if architecture < oldest(name):
            found[architecture] = "needs a newer GPU"
            continue
        chosen = with_cubin(program, architecture) if architecture in WITHOUT_NVCC else program
        found[architecture] = run(chosen, architecture)
    return found


def main(arguments: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--arch", type=int, nargs="+", default=[70, 75, 80, 90], choices=GPUS)
    chosen = parser.parse_args(arguments)
    if not shutil.which("nvcc"):
        parser.exit(2, "needs nvcc, and there is none\n")
    print("| program |" + "".join(f" sm_{a} |" for a in chosen.arch), flush=True)
    print("| --- |" + " --- |" * len(chosen.arch))
    every: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen.names or names():
            row = results(name, chosen.arch, Path(folder))
            every += row.values()
            print(f"| {name} |" + "".join(f" {row[a]} |" for a in chosen.arch), flush=True)
    print(f"\nfrom machine code: {every.count('sass')} of {len(every)}")
    return any(result.startswith("WRONG") for result in every)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except LockstepError as error:
        sys.exit(str(error))

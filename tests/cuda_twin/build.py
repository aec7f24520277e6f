"""One file of many programs, compiled: machine code, PTX, and C++ for this host."""

import ctypes
import re
import subprocess
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cuda_twin.generator import ACCUMULATORS, WORDS, Program

FOLDER = Path(__file__).parent
ARCHITECTURES = (80, 90)
FORMS = ("ptx", *(f"sm_{architecture}" for architecture in ARCHITECTURES))
HOST_OPTIONS = ("-O1", "-std=c++17", "-ffp-contract=off", "-fwrapv", "-w", "-shared", "-fPIC")
DEVICE_OPTIONS = ("-std=c++17", "-arch=compute_80", "-fmad=false", "-w", "-ptx")
PTXAS_OPTIONS = {"-O0": "-O0", "-G": "-g"}  # by those of nvcc
_NAME = re.compile(r"program\d+x")
_DEBUG = re.compile(r"\n\s*\.(?:loc|file)\b.*|\n\s*\.section[^{]*\{[^}]*\}|, debug$", re.MULTILINE)


class Data(NamedTuple):
    """What a kernel is given and leaves behind, but for its input."""

    out: np.ndarray
    accumulators: np.ndarray
    sums: np.ndarray


def source(programs: list[Program]) -> str:
    """The text of all, for both compilers."""
    runs = "".join(
        f"    case {k}: launch(grid, block, backwards, [=] "
        f"{{ {p.name}::{p.name}_kernel(in, out, accumulators, sums); }}); break;\n"
        for k, p in enumerate(programs)
    )
    return (
        f'#include "{FOLDER}/prelude.h"\n'
        + "".join(p.text for p in programs)
        + "#ifndef __CUDACC__\n"
        'extern "C" void run(int which, dim3 grid, dim3 block, bool backwards, const u32 *in,\n'
        "                    u64 *out, u32 *accumulators, u64 *sums) {\n"
        f"    switch (which) {{\n{runs}    }}\n}}\n#endif\n"
    )


class Dim3(ctypes.Structure):
    """As in the header."""

    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


class Built:
    """Programs: :meth:`on_host`, and the forms in which a device takes each of them."""

    def __init__(self, programs: list[Program], folder: Path, options: tuple[str, ...] = ()):
        self.programs = programs
        path, library = folder / "programs.cu", folder / "programs.so"
        path.write_text(source(programs))
        host = ["g++", *HOST_OPTIONS, "-include", FOLDER / "emulation.h", "-x", "c++", path]
        device = ["nvcc", *DEVICE_OPTIONS, *options, path, "-o", folder / "programs.ptx"]
        started = [subprocess.Popen([*host, "-o", library]), subprocess.Popen(device)]
        if any([process.wait() for process in started]):
            raise RuntimeError(f"{path} does not compile")
        self._run = ctypes.CDLL(str(library)).run
        self._run.argtypes = [ctypes.c_int, Dim3, Dim3, ctypes.c_bool, *[ctypes.c_void_p] * 4]
        self._run.restype = None
        whole = (folder / "programs.ptx").read_text()
        optimisation = [PTXAS_OPTIONS[option] for option in options if option in PTXAS_OPTIONS]
        with ThreadPool(2) as pool:
            self.forms = pool.map(lambda p: _assembled(whole, p, folder, optimisation), programs)

    def on_host(self, which: int, backwards: bool = False) -> Data:
        """What one of the programs computes, thread by thread from the first or the last."""
        program = self.programs[which]
        values, data = given(program), fresh(program)
        pointers = [array.ctypes.data for array in (values, *data)]
        self._run(which, Dim3(*program.grid), Dim3(*program.block), backwards, *pointers)
        return data


def _assembled(
    whole: str, program: Program, folder: Path, options: list[str]
) -> dict[str, str | bytes]:
    """The PTX of one program, and cubins of it."""
    text = folder / f"{program.name}.ptx"
    text.write_text(part_of(whole, program.name))
    forms: dict[str, str | bytes] = {"ptx": text.read_text()}
    for architecture in ARCHITECTURES:
        cubin = folder / f"{program.name}.sm_{architecture}.cubin"
        command = ["ptxas", "-w", f"-arch=sm_{architecture}", *options, text, "-o", cubin]
        subprocess.run(command, check=True)
        forms[f"sm_{architecture}"] = cubin.read_bytes()
    return forms


def part_of(whole: str, name: str) -> str:
    """The PTX of one of the programs in a module: what bears its name, or that of none.

    Lines and sections for debuggers are left out: they are those of the whole module.
    """
    head, *parts = re.split(r"\n(?=\.)", _DEBUG.sub("", re.sub(r"//.*", "", whole)))
    kept = [part for part in parts if set(_NAME.findall(part)) <= {name}]
    return "\n".join([head, *kept]) + "\n"


def given(program: Program) -> np.ndarray:
    """The input: random words, some of them small."""
    chance = np.random.default_rng(program.threads)
    words = chance.integers(0, 1 << 32, (program.threads, WORDS), np.uint32)
    return np.where(chance.random(words.shape) < 0.3, words & 7, words).astype(np.uint32)


def fresh(program: Program) -> Data:
    """What is there before."""
    accumulators = np.zeros(4 * len(ACCUMULATORS), np.uint32)
    for name in ("mins", "ands"):
        place = 4 * ACCUMULATORS.index(name)
        accumulators[place : place + 4] = 0xFFFFFFFF
    return Data(np.zeros((program.threads, WORDS), np.uint64), accumulators, np.zeros(2, np.uint64))

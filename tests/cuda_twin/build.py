"""One file of many programs, compiled: machine code, PTX, and C++ for this host."""

import ctypes
import re
import subprocess
import sys
from collections.abc import Sequence
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cuda_twin.generator import ACCUMULATORS, PARAMETERS, WORDS, Program

FOLDER = Path(__file__).parent
FORMS = ("ptx_80", "sm_80", "sm_90")  # of PTX and machine code, and for which architecture
HOST_OPTIONS = ("-O1", "-std=c++17", "-ffp-contract=off", "-fwrapv", "-w", "-shared", "-fPIC")
HOST_OPTIONS += ("-frounding-math", "-fno-strict-aliasing")
DEVICE_OPTIONS = ("-std=c++17", "-fmad=false", "-w", "-ptx")
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
    given_to_all = ", ".join(map(repr, PARAMETERS))
    runs = "".join(
        f"    case {k}: launch(grid, block, backwards, [=] "
        f"{{ {p.name}::{p.name}_kernel(in, out, accumulators, sums, {given_to_all}); }}); break;\n"
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

    def __init__(
        self,
        programs: list[Program],
        folder: Path,
        options: tuple[str, ...] = (),
        forms: Sequence[str] = FORMS,
    ):
        self.programs = programs
        path, library = folder / "programs.cu", folder / "programs.so"
        path.write_text(source(programs))
        host = ["g++", *HOST_OPTIONS, "-include", FOLDER / "emulation.h", "-x", "c++", path]
        started = [subprocess.Popen([*host, "-o", library])]
        architectures = sorted({form.partition("_")[2] for form in forms})
        for one in architectures:
            device = ["nvcc", f"-arch=compute_{one}", *DEVICE_OPTIONS, *options, path]
            started.append(subprocess.Popen([*device, "-o", folder / f"programs.{one}.ptx"]))
        if any([process.wait() for process in started]):
            raise RuntimeError(f"{path} does not compile")
        self._run = ctypes.CDLL(str(library)).run
        self._run.argtypes = [ctypes.c_int, Dim3, Dim3, ctypes.c_bool, *[ctypes.c_void_p] * 4]
        self._run.restype = None
        optimisation = [PTXAS_OPTIONS[option] for option in options if option in PTXAS_OPTIONS]
        whole = {one: (folder / f"programs.{one}.ptx").read_text() for one in architectures}
        with ThreadPool(2) as pool:
            self.forms = pool.map(
                lambda p: {
                    form: _form(form, whole[form.partition("_")[2]], p, folder, optimisation)
                    for form in forms
                },
                programs,
            )

    def on_host(self, which: int, backwards: bool = False) -> Data:
        """What one of the programs computes, thread by thread from the first or the last."""
        program = self.programs[which]
        values, data = given(program), fresh(program)
        pointers = [array.ctypes.data for array in (values, *data)]
        self._run(which, Dim3(*program.grid), Dim3(*program.block), backwards, *pointers)
        return data


def _form(
    form: str, whole: str, program: Program, folder: Path, options: list[str]
) -> str | bytes | None:
    """The PTX of one program, or a cubin of it; None if the assembler itself crashes."""
    text = folder / f"{program.name}.{form}.ptx"
    text.write_text(part_of(whole, program.name))
    if form.startswith("ptx"):
        return text.read_text()
    cubin = folder / f"{program.name}.{form}.cubin"
    command = ["ptxas", "-w", f"-arch={form}", *options, text, "-o", cubin]
    ended = subprocess.run(command).returncode
    if ended < 0:
        print(f"{program.name} as {form}: ptxas ended by signal {-ended}", file=sys.stderr)
        return None
    if ended:
        raise RuntimeError(f"{text} does not assemble")
    return cubin.read_bytes()


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

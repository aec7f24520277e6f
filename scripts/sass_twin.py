"""Assembles the test cases of ``tests/ptx_twin`` to the machine code that tests execute.

Development only, with two assemblers: ptxas of CUDA 12 knows sm_70 (``pip install
'nvidia-cuda-nvcc-cu12==12.9.*'``), that of CUDA 13 others::

    PYTHONPATH=tests python scripts/sass_twin.py --old path/of/cuda12/ptxas --new ptxas

A case that an architecture does not have is left out there. Of all kernels a sample is marked that
has every opcode with every modifier: it is what tests execute unless they are asked for more.
"""

import argparse
import re
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

from lockstep.execution.sass import instructions  # noqa: F401 (fills the table)
from lockstep.execution.sass.opcodes import name_of
from lockstep.isa.sass.binary import read_cubin
from lockstep.isa.sass.encoding.decoder import disassemble
from ptx_twin import case_compare, case_conversion, case_integer
from ptx_twin.cases import bundles
from ptx_twin.generator import HEADER, kernel_ptx
from ptx_twin.machine_code import ARCHITECTURES, FOLDER, FREE, Assembled, assembled, pack

OLD = (70,)  # architectures that CUDA 13 does not know
UNIFORM = (80, 90)  # those whose uniform datapath is tested
UNIFORM_FAMILIES = (case_integer, case_compare, case_conversion)
FATAL = ("ld.global.v8.u8", "ld.global.v8.s8", "ld.global.v8.b8")  # ptxas 13.0 ends by a signal
MISTAKEN = ("szext",)  # with a parameter as length ptxas 13.0 emits SGXT.U32 by c[0x0][0x0]
KERNEL_COST = 10  # of a kernel in the sample, in instructions
_LINE = re.compile(r"line (\d+)")
Kernels = dict[str, Assembled]


def target(architecture: int) -> str:
    """The target, with what only this architecture has."""
    return f"sm_{architecture}a" if architecture == 90 else f"sm_{architecture}"


def choose_cases(architecture: int) -> Kernels:
    """The kernels to assemble: all cases, and those for uniform operands."""
    whole = {c.name for family in UNIFORM_FAMILIES for c in family.cases()}
    kernels = {}
    for k, bundle in enumerate(bundles()):
        for case in bundle.cases:
            if case.sm > architecture or case.name.startswith((*FREE, *FATAL)):
                bundle = bundle.without(case)
        if bundle.cases:
            kernels[f"k{k}"] = assembled(bundle, False)
            name = bundle.cases[0].name
            if architecture in UNIFORM and name in whole and not name.startswith(MISTAKEN):
                kernels[f"u{k}"] = assembled(bundle, True)
    return kernels


def module(kernels: Kernels, architecture: int) -> tuple[str, list[tuple[str, int]]]:
    """The PTX of all kernels; for each the line behind its last."""
    text = HEADER.replace("sm_90", target(architecture))
    ends = []
    for name, kernel in kernels.items():
        text += kernel_ptx(kernel.bundle.cases, name, kernel.uniform)
        ends.append((name, text.count("\n") + 1))
    return text, ends


def assemble(ptxas: str, text: str, architecture: int) -> tuple[bytes, str]:
    """A cubin, or the assembler's messages."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder, "k.ptx"), Path(folder, "k.cubin")
        source.write_text(text)
        command = [ptxas, f"-arch={target(architecture)}", "-o", str(result), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return (result.read_bytes(), "") if done.returncode == 0 else (b"", done.stderr)


def without_refused(kernels: Kernels, text: str, ends, messages: str) -> Kernels:
    """The kernels less the cases at the lines that the assembler complains about."""
    lines = text.splitlines()
    refused = {int(m) for m in _LINE.findall(messages)}
    if not refused:
        raise SystemExit(messages)
    for line in sorted(refused):
        name = next(name for name, end in ends if line < end)
        kernel = kernels.get(name)
        case = kernel and kernel.bundle.of_text(lines[line - 1].strip())
        if case is None:
            continue
        print(f"  without {case.name}")
        rest = kernel.bundle.without(case)
        kernels = kernels | {name: assembled(rest, kernel.uniform)}
        if not rest.cases:
            del kernels[name]
    return kernels


def build(ptxas: str, architecture: int) -> tuple[bytes, Kernels]:
    """A cubin with all that the assembler takes."""
    kernels = choose_cases(architecture)
    while True:
        text, ends = module(kernels, architecture)
        cubin, messages = assemble(ptxas, text, architecture)
        if cubin:
            return cubin, kernels
        kernels = without_refused(kernels, text, ends, messages)


def sample(built: dict[int, tuple[bytes, Kernels]]) -> set[tuple[int, str]]:
    """Few short kernels that together have every opcode with every modifier."""
    found = {}
    for architecture, (cubin, _) in built.items():
        for function in read_cubin(cubin, Path("k.cubin")).kernels:
            code = list(disassemble(function.code, architecture, 0))
            words = {(name_of(i), m) for i in code for m in ("", *i.modifiers)}
            found[architecture, function.name] = words, len(code) + KERNEL_COST
    missing = set().union(*(words for words, _ in found.values()))
    chosen = set()
    while missing:
        best = max(found, key=lambda kernel: len(found[kernel][0] & missing) / found[kernel][1])
        chosen.add(best)
        missing -= found[best][0]
    return chosen


def main() -> None:
    """Build all architectures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--old", required=True, help="ptxas of CUDA 12")
    parser.add_argument("--new", default="ptxas", help="ptxas of CUDA 13")
    options = parser.parse_args()
    built = {a: build(options.old if a in OLD else options.new, a) for a in ARCHITECTURES}
    chosen = sample(built)
    for architecture, (cubin, kernels) in built.items():
        marked = {n: replace(k, sampled=(architecture, n) in chosen) for n, k in kernels.items()}
        path = FOLDER / f"sm_{architecture}.zst"
        path.write_bytes(pack(cubin, marked))
        print(f"sm_{architecture}: {len(kernels)} kernels, {path.stat().st_size} bytes")
    print(f"{len(chosen)} kernels in the sample")


if __name__ == "__main__":
    main()

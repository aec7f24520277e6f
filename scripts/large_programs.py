"""Runs programs with much code: many kernels, large ones, and what nvcc makes for a debugger.

Development only; needs nvcc and a C++ compiler::

    PYTHONPATH=src python scripts/large_programs.py [kernels large debug functions] [--keep DIR]

Each program executes the same functions on the host, compares the results, and is run twice: first
nothing of it is known, then it is kept. The table has the instructions of its machine code, seconds
of the processor for both runs, and the most address space and mappings that the first one had.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from lockstep.isa.sass.binary import images_of, read_cubin
from lockstep.isa.sass.encoding.instruction import BYTES

THREADS = 64


@dataclass(frozen=True)
class Shape:
    """``kernels`` may call ``functions`` and execute ``called`` of them; lengths in statements."""

    kernels: int
    functions: int = 0
    called: int = 0
    length: int = 20
    options: tuple[str, ...] = ()


SHAPES = {
    "kernels": Shape(500),
    "large": Shape(40, length=900),
    "debug": Shape(14, functions=60, called=8, length=9, options=("-G",)),
    "functions": Shape(1, functions=300, called=6, length=30, options=("-G",)),
}
FIRST = Shape(1)  # which makes the scheduler's code, if there is none


def statements(rng: random.Random, count: int) -> str:
    """What a function does to x, y and eight words of its own."""
    lines = []
    for _ in range(count):
        factor, shift = rng.randrange(1 << 31) | 1, rng.randrange(1, 31)
        kinds = (
            f"x = x * {factor}u + y;",
            f"y ^= x >> {shift};",
            f"if (x & {1 << shift}u) y += {factor}u; else x -= y;",
            f"own[{shift % 8}] += x; x ^= own[{(shift + 3) % 8}];",
            "for (unsigned k = 0; k < (y & 3); ++k) x = x * 5 + k;",
            f"x = (x << {shift}) | (x >> {32 - shift}); y += x;",
        )
        lines.append("    " + rng.choice(kinds))
    return "\n".join(lines)


def function(rng: random.Random, name: str, length: int) -> str:
    """A function for the GPU and the host."""
    return f"""__host__ __device__ __noinline__ unsigned {name}(unsigned x, unsigned y) {{
    unsigned own[8] = {{x, y, 1, 2, 3, 4, 5, 6}};
{statements(rng, length)}
    return x ^ y ^ own[x & 7];
}}
"""


def kernel(rng: random.Random, number: int, shape: Shape) -> str:
    """A kernel, and what a thread of it computes."""
    if not shape.functions:
        body = function(rng, f"body{number}", shape.length).replace("__noinline__", "")
    else:
        cases = "".join(f"case {f}: return f{f}(x, y);\n" for f in range(shape.functions))
        chosen = ", ".join(str(rng.randrange(shape.functions)) for _ in range(shape.called))
        body = f"""__host__ __device__ unsigned pick{number}(unsigned f, unsigned x, unsigned y) {{
    switch (f) {{ {cases} }}
    return x;
}}
__host__ __device__ unsigned body{number}(unsigned x, unsigned y) {{
    const unsigned chosen[] = {{{chosen}}};
    for (unsigned k = 0; k < {shape.called}; ++k) x = pick{number}(chosen[k], x, y);
    return x;
}}
"""
    return f"""{body}__global__ void k{number}(unsigned *out) {{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = body{number}(i * 77u + {number}, i);
}}
"""


def program(shape: Shape, seed: int = 0) -> str:
    """A program that says how many results differ, and fails if any does."""
    rng = random.Random(seed)
    functions = [function(rng, f"f{k}", shape.length) for k in range(shape.functions)]
    kernels = [kernel(rng, k, shape) for k in range(shape.kernels)]
    runs = [
        f"""    k{k}<<<2, {THREADS // 2}>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (unsigned i = 0; i < {THREADS}; ++i) wrong += host[i] != body{k}(i * 77u + {k}, i);
"""
        for k in range(shape.kernels)
    ]
    return f"""#include <cstdio>
{"".join(functions)}{"".join(kernels)}
int main() {{
    unsigned host[{THREADS}], *device, wrong = 0;
    cudaMalloc(&device, sizeof host);
{"".join(runs)}    if (wrong || cudaGetLastError()) printf("%u results differ\\n", wrong);
    return wrong || cudaGetLastError();
}}
"""


def built(shape: Shape, folder: Path, name: str) -> Path:
    """The program, compiled for sm_80."""
    (folder / f"{name}.cu").write_text(program(shape))
    command = ["nvcc", "-w", "-arch=sm_80", "-cudart", "shared", *shape.options, "-o", name]
    subprocess.run([*command, f"{name}.cu"], cwd=folder, check=True)
    return folder / name


def instructions(path: Path) -> int:
    """Of all kernels and functions in a program."""
    images = [i for i in images_of(path.read_bytes(), path) if i.kind == "cubin"]
    cubins = [read_cubin(i.data, path) for i in images]
    return sum(len(f.code) // BYTES for cubin in cubins for f in cubin.functions)


@dataclass
class Run:
    """What a run took: seconds of the processor, bytes of address space, mappings."""

    code: int
    seconds: float
    bytes: int = 0
    mappings: int = 0


def run(path: Path, cache: Path) -> Run:
    """Run a program in the simulator, and look at its address space meanwhile."""
    command = [sys.executable, "-m", "lockstep", "run", "--quiet", "--gpu", "A100", str(path)]
    running = subprocess.Popen(command, env={**os.environ, "LOCKSTEP_CACHE_DIR": str(cache)})
    size = mappings = ended = 0
    status = usage = None
    while not ended:
        ended, status, usage = os.wait4(running.pid, os.WNOHANG)
        try:
            told = Path(f"/proc/{running.pid}/status").read_text()
            size = max(size, int(told.partition("VmPeak:")[2].split()[0]) * 1024)
            mappings = max(mappings, Path(f"/proc/{running.pid}/maps").read_text().count("\n"))
        except (OSError, IndexError):
            pass  # it has ended
        time.sleep(0.1)
    running.returncode = os.waitstatus_to_exitcode(status)
    return Run(running.returncode, usage.ru_utime + usage.ru_stime, size, mappings)


def main() -> int:
    """Run the programs, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(SHAPES)} [all]")
    parser.add_argument("--keep", type=Path, help="a folder for sources, programs and the cache")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        cache = folder / "cache"
        run(built(FIRST, folder, "first"), cache)
        print("program   instructions   first s   again s       GB   mappings")
        for name in options.names or SHAPES:
            path = built(SHAPES[name], folder, name)
            first, again = run(path, cache), run(path, cache)
            failed += first.code != 0 or again.code != 0
            numbers = f"{instructions(path):12} {first.seconds:9.1f} {again.seconds:9.1f}"
            numbers += f" {first.bytes / 1e9:8.1f} {first.mappings:10}"
            print(f"{name:9} {numbers}{'  FAILED' * (first.code or again.code != 0)}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())

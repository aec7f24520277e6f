"""Build the programs of ``tests/runtime/programs`` for CUDA 11 or 12, and run them.

Run it as ``python scripts/older_cuda.py 12 WHEELS``. It needs nvcc 13 and, in the folder WHEELS
(a ``site-packages/nvidia``), what these install: ``pip install nvidia-cuda-runtime-cu12
nvidia-cuda-nvcc-cu12 nvidia-cuda-cccl-cu12``, or the same with cu11. The programs have the headers,
the structures and the library's name of that version, in code that nvcc 13 makes of them: the
wheels have no compiler. The runtime is shared, and static where the wheel has it (12.9). Exit code
1 if a program fails.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import lockstep
from lockstep.frontend.cuda.build import libraries
from lockstep.runtime import Simulator, run_program

PROGRAMS = Path(__file__).parents[1] / "tests" / "runtime" / "programs"
NAMES = (
    "device",
    "streams",
    "memory",
    "graphs",
    "graph_memory",
    "functions",
    "limits",
    "textures",
    "mipmaps",
    "graph_objects",
)
SINCE_12 = ("graph_conditions", "driver_graphs")  # what CUDA 11 does not have


def unite(wheels: Path, folder: Path) -> None:
    """One folder of headers and one of libraries from those of the wheels."""
    for part in ("cuda_runtime", "cuda_nvcc", "cuda_cccl"):
        for kind in ("include", "lib"):
            if (wheels / part / kind).is_dir():
                shutil.copytree(wheels / part / kind, folder / kind, dirs_exist_ok=True)
    library = next((folder / "lib").glob("libcudart.so.*"))
    (folder / "lib" / "libcudart.so").symlink_to(library.name)
    launch = folder / "include" / "crt" / "host_runtime.h"  # nvcc 13 passes it one argument more
    text = launch.read_text(encoding="utf-8")
    launch.write_text(re.sub(r"(#define __cudaLaunch\(fun)\)", r"\1, ...)", text), encoding="utf-8")


def toolkit() -> Path:
    """The folder of nvcc's toolkit, which nvcc says itself: what is in PATH may be a wrapper."""
    command = ["nvcc", "--dryrun", "-x", "cu", os.devnull]
    said = subprocess.run(command, capture_output=True, text=True).stderr
    return Path(re.search(r"TOP=(.*)", said)[1].strip()).resolve()


def build(name: str, runtime: str, headers: Path, output: Path) -> None:
    """Compile a program with other headers and libraries than nvcc's own."""
    root = toolkit()
    places = [f"{root}/nvvm/bin", f"{root}/bin", os.environ["PATH"]]
    command = ["nvcc", "-noprof", "-allow-unsupported-compiler", "-w", "-std=c++17", "-arch=sm_80"]
    command += [f"-cudart={runtime}", f"--libdevice-directory={root}/nvvm/libdevice"]
    command += [f"-I{headers}/include", f"-L{headers}/lib", f"-L{root}/lib", "-o", str(output)]
    command += [f"-L{libraries()}", "-lcuda"]
    variables = {**os.environ, "PATH": ":".join(places)}
    subprocess.run([*command, str(PROGRAMS / f"{name}.cu")], check=True, env=variables)


def main(version: str, wheels: str) -> int:
    """Build and run all programs."""
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        unite(Path(wheels), folder)
        kinds = ["static"] * (folder / "lib" / "libcudart_static.a").exists()
        for runtime in ("shared", *kinds):
            for name in NAMES + SINCE_12 * (int(version) >= 12):
                build(name, runtime, folder, folder / name)
                simulator = Simulator(lockstep.api.gpu("A100"))
                print(f"CUDA {version}, {runtime}, {name}: ", end="", flush=True)
                failed += run_program(simulator, [str(folder / name)]).code != 0
                simulator.close()
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]) if len(sys.argv) == 3 else __doc__)

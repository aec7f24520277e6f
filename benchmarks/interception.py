"""What interception costs a CUDA program: launches and copies, as the program sees them.

::

    python benchmarks/interception.py [--launches N] [--megabytes N] [--repeat N]

The program is this file, run by ``lockstep run`` as any other would be; it calls ``libcuda`` by
ctypes. A launch is that of a kernel that returns at once, waited for with others at the end; a
copy is one call, whose memory was touched before, or not. The best of ``--repeat`` runs counts.
"""

import argparse
import ctypes
import json
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from rich import box
from rich.console import Console
from rich.table import Table

import lockstep
from lockstep.runtime import Simulator, run_program

GPU = "A100"
PTX = b""".version 7.0
.target sm_70
.address_size 64
.visible .entry nothing() { ret; }
"""


def program(launches: int, megabytes: int) -> dict[str, float]:
    """Inside ``lockstep run``: seconds of a launch, and GB/s of copies."""
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name: str, *arguments) -> None:
        if error := getattr(cuda, name)(*arguments):
            raise SystemExit(f"{name}: CUDA error {error}")

    context, module, kernel = (ctypes.c_void_p() for _ in range(3))
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
    call("cuModuleLoadData", ctypes.byref(module), PTX)
    call("cuModuleGetFunction", ctypes.byref(kernel), module, b"nothing")

    def launch(count: int) -> float:
        begin = perf_counter()
        for _ in range(count):
            call("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None)
        call("cuCtxSynchronize")
        return (perf_counter() - begin) / count

    launch(10)  # translates
    figures = {"launch": launch(launches)}

    size = megabytes << 20
    host, address = ctypes.create_string_buffer(b"\1" * size, size), ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))

    def rate(name: str, *arguments) -> float:
        begin = perf_counter()
        call(name, *arguments, ctypes.c_size_t(size))
        return size / (perf_counter() - begin) / 1e9

    figures["to device, first"] = rate("cuMemcpyHtoD_v2", address, host)
    figures["to device"] = rate("cuMemcpyHtoD_v2", address, host)
    figures["to host"] = rate("cuMemcpyDtoH_v2", host, address)
    return figures


def intercepted(arguments: argparse.Namespace) -> dict[str, float]:
    """The figures of one run of the program."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "figures.json")
        sizes = [str(arguments.launches), str(arguments.megabytes)]
        simulator = Simulator(lockstep.gpu(GPU))
        try:
            command = [sys.executable, __file__, "--inside", str(place), *sizes]
            outcome = run_program(simulator, command)
        finally:
            simulator.close()
        if outcome.code:
            raise SystemExit(f"the program ended with {outcome.code}")
        return json.loads(place.read_text())


def direct(launches: int) -> float:
    """Seconds of the same launch on a Device, without a program in another process."""
    with lockstep.Device(GPU) as device:
        kernel = device.load_ptx(PTX.decode())["nothing"]
        kernel[1, 32]()
        device.synchronize()
        begin = perf_counter()
        for _ in range(launches):
            kernel[1, 32]()
        device.synchronize()
        return (perf_counter() - begin) / launches


def main() -> None:
    """Read the command line, measure, print the table."""
    if sys.argv[1:2] == ["--inside"]:
        place, launches, megabytes = sys.argv[2:]
        Path(place).write_text(json.dumps(program(int(launches), int(megabytes))))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launches", type=int, default=2000, help="of which the mean is taken")
    parser.add_argument("--megabytes", type=int, default=256, help="of a copy")
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the best counts")
    arguments = parser.parse_args()
    runs = [intercepted(arguments) for _ in range(arguments.repeat)]
    alone = min(direct(arguments.launches) for _ in range(arguments.repeat))
    launch = min(run["launch"] for run in runs)
    table = Table("interception", box=box.SIMPLE)
    table.add_column(f"best of {arguments.repeat}", justify="right")
    table.add_row("launch", f"{launch * 1e6:.0f} µs")
    table.add_row("launch on a Device", f"{alone * 1e6:.0f} µs")
    table.add_row("interception", f"{(launch - alone) * 1e6:.0f} µs")
    for name in ("to device, first", "to device", "to host"):
        text = f"copy {name.replace(', first', ', memory never touched before')}"
        table.add_row(text, f"{max(run[name] for run in runs):.1f} GB/s")
    Console().print(table)


if __name__ == "__main__":
    main()

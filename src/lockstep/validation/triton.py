"""Kernels that Triton compiled, run as machine code and compared with an H100, cold and warm.

A folder of them holds ``kernels.tar.gz`` (``index.json``: of each kernel its name, grid, arguments
and what Triton says of it; ``NAME.cubin``) and what Nsight Compute counted, ``ncu_cold.csv.xz`` and
``ncu_warm.csv.xz``, a row a kernel in the order of the index.
"""

import json
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lockstep import api
from lockstep.correlation.hardware import read_hardware
from lockstep.correlation.launches import CYCLES, Launch
from lockstep.device.device import Device
from lockstep.errors import InputError, LockstepError
from lockstep.isa.instruction import WARP_SIZE
from lockstep.validation.comparison import Comparison, Figure

GPU = "H100_SXM"
SOURCE = "H100 80GB HBM3 (SXM5), ncu 2025.3.1, Triton 3.6"
ARCHIVE, INDEX = "kernels.tar.gz", "index.json"
STATES = {"cold": ("launch.l2=flush", 1), "warm": ("launch.l2=replay", 2)}
"""What a profiler did to the L2, and how many launches there are: the last one is compared."""
COUNTERS = {
    CYCLES: "cycles",
    "sm__inst_executed.sum": "warp instructions",
    "dram__sectors_read.sum": "DRAM sectors read",
}


@dataclass(frozen=True)
class CompiledKernel:
    """One kernel; arguments are numbers, or the shape and type of a tensor of normal numbers."""

    name: str
    entry: str
    cubin: bytes
    grid: tuple[int, ...]
    arguments: tuple[Any, ...]
    warps: int
    shared_bytes: int


def key(state: str, counter: str) -> str:
    """What the table of a counter is called in a document."""
    return f"triton {state} {COUNTERS[counter]}"


def read(folder: Path) -> list[CompiledKernel]:
    """The kernels of a folder, in the order of its index. Raises :class:`InputError`."""
    path = folder / ARCHIVE
    try:
        with tarfile.open(path) as archive:
            index = json.loads(_content(archive, INDEX))
            return [
                _compiled(entry, _content(archive, f"{entry['name']}.cubin")) for entry in index
            ]
    except OSError as error:
        raise InputError(path, "", f"cannot read: {error.strerror or error}") from error
    except (tarfile.TarError, EOFError) as error:
        raise InputError(path, "", f"is no archive: {error}") from error
    except KeyError as error:
        raise InputError(path, "", f"has no {error.args[0]!r}") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise InputError(path, INDEX, f"is no index of kernels: {error}") from error


def _content(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    if file is None:
        raise KeyError(name)
    return file.read()


def _compiled(entry: dict[str, Any], cubin: bytes) -> CompiledKernel:
    about = entry["metadata"]
    return CompiledKernel(
        entry["name"],
        about["name"],
        cubin,
        tuple(map(int, entry["grid"])),
        tuple(_argument(argument) for argument in entry["args"]),
        int(about["num_warps"]),
        int(about["shared"]),
    )


def _argument(argument: Any) -> Any:
    if not isinstance(argument, list):
        return np.float32(argument) if isinstance(argument, float) else int(argument)
    _, shape, kind = argument
    return tuple(map(int, shape)), np.dtype(kind.removeprefix("torch."))


def kernels(
    folder: Path, say: Callable[[str], None], threads: int = 1, gpu: str = GPU
) -> list[Comparison]:
    """Run the kernels of a folder in both states, and compare each counter.

    ``say`` is told of each kernel that begins.
    """
    found = read(folder)
    rows = {state: _measured(folder, state, found) for state in STATES}
    return [c for state in STATES for c in _in_state(state, rows[state], say, threads, gpu)]


def _measured(
    folder: Path, state: str, found: list[CompiledKernel]
) -> list[tuple[CompiledKernel, Launch]]:
    path = folder / f"ncu_{state}.csv.xz"
    launches = read_hardware(path)
    if [launch.kernel for launch in launches] != [kernel.entry for kernel in found]:
        raise InputError(path, "", f"does not have the kernels of {INDEX}, in their order")
    return list(zip(found, launches))


def _in_state(
    state: str,
    rows: list[tuple[CompiledKernel, Launch]],
    say: Callable[[str], None],
    threads: int,
    gpu: str,
) -> list[Comparison]:
    results = {
        counter: Comparison(key(state, counter), f"Triton kernels on {gpu}, {state}: {what}")
        for counter, what in COUNTERS.items()
    }
    for kernel, launch in rows:
        say(f"{kernel.name}, {state}")
        try:
            metrics = run(kernel, gpu, threads, *STATES[state])
        except LockstepError as error:
            for result in results.values():
                result.skipped.append(f"{kernel.name}: {error}")
            continue
        _compare(results, kernel.name, metrics, launch)
    return list(results.values())


def _compare(
    results: dict[str, Comparison], name: str, metrics: dict[str, float], launch: Launch
) -> None:
    for counter, result in results.items():
        if counter in launch.metrics:
            figure = Figure(name, metrics[counter], launch.metrics[counter], SOURCE)
            result.figures.append(figure)


def run(
    kernel: CompiledKernel, gpu: str, threads: int, change: str, launches: int
) -> dict[str, float]:
    """The metrics of the last of some launches of a kernel; its tensors hold random numbers."""
    random = np.random.default_rng(0)
    with Device(api.gpu(gpu, [change]), timing=True, threads=threads) as device:
        function = device.load_cubin(kernel.cubin)[kernel.entry]
        arguments: list[Any] = []
        for argument in kernel.arguments:
            if isinstance(argument, tuple):
                shape, kind = argument
                argument = device.array(np.asarray(random.standard_normal(shape)).astype(kind))
            arguments.append(argument)
        # Triton's compiler appends pointers to scratch memory, which these kernels do not use.
        arguments += [0] * (len(function.parameters) - len(arguments))
        configured = function[kernel.grid, kernel.warps * WARP_SIZE, kernel.shared_bytes]
        for _ in range(launches):
            launch = configured(*arguments)
            launch.timed()
        return launch.metrics

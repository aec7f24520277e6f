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
from lockstep.device.launch import Launch as DeviceLaunch
from lockstep.errors import InputError, LockstepError
from lockstep.isa.instruction import WARP_SIZE
from lockstep.validation.comparison import Comparison, Figure, as_counted
from lockstep.validation.pytorch_memory import CachingAllocator, Piece

GPU = "H100_SXM"
SOURCE = "H100 80GB HBM3 (SXM5), ncu 2025.3.1, Triton 3.6"
ARCHIVE, INDEX = "kernels.tar.gz", "index.json"
STATES = {"cold": "launch.l2=flush", "warm": "launch.l2=replay"}
"""What a profiler did to the L2."""
REST = 256 << 20
"""Bytes that the process has besides: far more than an L2 holds, as with PyTorch; a guess."""
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
    process = Process()
    for kernel, launch in rows:
        say(f"{kernel.name}, {state}")
        try:
            metrics = run(kernel, process, gpu, threads, STATES[state])
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
            ours = as_counted(counter, metrics[counter])
            figure = Figure(name, ours, launch.metrics[counter], SOURCE)
            result.figures.append(figure)


class Process:
    """Where the tensors of a process lie that runs one kernel after the other.

    Those of a kernel are there until the next one has its own; what the kernel changes came last,
    as in ``out = torch.empty_like(x)``.
    """

    def __init__(self) -> None:
        self._allocator = CachingAllocator()
        self._held: list[Piece] = []

    def place(self, tensors: dict[int, np.ndarray], written: set[int]) -> dict[int, Piece]:
        """Where the tensors of the next kernel lie, by the numbers of its arguments."""
        order = sorted(tensors, key=lambda number: (number in written, number))
        places = {number: self._allocator.allocate(tensors[number].nbytes) for number in order}
        for piece in self._held:
            self._allocator.free(piece)
        self._held = list(places.values())
        return places

    def segments(
        self, tensors: dict[int, np.ndarray], places: dict[int, Piece]
    ) -> dict[int, np.ndarray]:
        """What the segments hold that have tensors in them (uint8), by their numbers."""
        found: dict[int, np.ndarray] = {}
        for number, piece in sorted(places.items(), key=lambda item: item[1].segment):
            size = self._allocator.segments[piece.segment].bytes
            content = found.setdefault(piece.segment, np.zeros(size, np.uint8))
            values = tensors[number].reshape(-1).view(np.uint8)
            content[piece.offset : piece.offset + len(values)] = values
        return found


def run(
    kernel: CompiledKernel, process: Process, gpu: str, threads: int, change: str
) -> dict[str, float]:
    """The metrics of a launch of a kernel; its tensors hold random numbers."""
    random = np.random.default_rng(0)
    tensors = {
        number: np.asarray(random.standard_normal(argument[0])).astype(argument[1])
        for number, argument in enumerate(kernel.arguments)
        if isinstance(argument, tuple)
    }
    places = process.place(tensors, _written(kernel, tensors, gpu))
    with Device(api.gpu(gpu, [change]), timing=True, threads=threads) as device:
        contents = process.segments(tensors, places)
        segments = {number: device.array(content) for number, content in contents.items()}
        device.memory.allocate(REST)
        arguments = {n: segments[p.segment].pointer + p.offset for n, p in places.items()}
        launch = _launch(device, kernel, arguments)
        launch.timed()
        return launch.metrics


def _written(kernel: CompiledKernel, tensors: dict[int, np.ndarray], gpu: str) -> set[int]:
    """Which tensors a kernel changes, by the numbers of its arguments."""
    with Device(gpu) as device:
        arrays = {number: device.array(values) for number, values in tensors.items()}
        _launch(device, kernel, arrays)
        device.synchronize()
        return {
            number
            for number, values in tensors.items()
            if arrays[number].numpy().tobytes() != values.tobytes()
        }


def _launch(device: Device, kernel: CompiledKernel, tensors: dict[int, Any]) -> DeviceLaunch:
    """Launch a kernel with these tensors, or their addresses."""
    function = device.load_cubin(kernel.cubin)[kernel.entry]
    arguments = [tensors.get(n, argument) for n, argument in enumerate(kernel.arguments)]
    # Triton's compiler appends pointers to scratch memory, which these kernels do not use.
    arguments += [0] * (len(function.parameters) - len(arguments))
    return function[kernel.grid, kernel.warps * WARP_SIZE, kernel.shared_bytes](*arguments)

"""``lockstep opencl``: one kernel of a binary in; what it wrote, and the summary, out."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from lockstep.cli.inside import INSIDE, check_inside, chosen_with, inside_options
from lockstep.cli.known import GPU_NAME
from lockstep.cli.opencl_arguments import Given, given, placed, signature
from lockstep.cli.options import (
    ADVICE,
    JSON,
    MEMORY,
    OUT,
    QUIET,
    REPORT,
    SET,
    SUMMARY,
    THREADS,
    TIMELINE,
    source_options,
)
from lockstep.cli.outputs import OutputFiles
from lockstep.cli.parameters import FILE, Dimensions, check_writable, find_gpu
from lockstep.cli.programs import SEED
from lockstep.cli.progress import Progress
from lockstep.cli.run import finish
from lockstep.cli.timing import TimingChoice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockstep.device import Device
    from lockstep.device.gcn import GcnModule

_SHOWN = 4  # elements of an array that are printed


@click.command()
@click.argument("path", metavar="FILE", type=FILE)
@click.argument("kernel", metavar="[KERNEL]", required=False)
@click.option("--global", "global_size", type=Dimensions(), help="Work-items.")
@click.option("--local", "local_size", type=Dimensions(), help="Those of a work-group.")
@click.option(
    "--arg",
    "arguments",
    multiple=True,
    metavar="[NAME=]VALUE",
    help="Its arguments: 1000, 2.5, f4[1e6] (random), zeros:f4[64,64], local:BYTES, FILE.npy; "
    "image: before an array makes it an image.",
)
@click.option(
    "--save", "saved", multiple=True, metavar="NAME=FILE.npy", help="Write an array after the run."
)
@SEED
@click.option(
    "--gpu", type=GPU_NAME, metavar="NAME", default="HD7770", show_default=True, help="The GPU."
)
@SET
@click.option(
    "--timing",
    type=TimingChoice(),
    default="none",
    show_default=True,
    is_flag=False,
    flag_value="full",
    help="Simulate the launch (full, or nothing behind it), too.",
)
@INSIDE
@MEMORY
@THREADS
@click.option("--record", type=FILE, metavar="FILE.lst", help="Write a trace of the launch.")
@JSON
@OUT
@TIMELINE
@REPORT
@source_options
@ADVICE
@SUMMARY
@QUIET
def command(
    path, kernel, global_size, local_size, arguments, saved, seed, gpu, overrides, timing, inside,
    memory_bytes, threads, record, source, advice, detail, quiet, **options,
) -> None:  # fmt: skip
    """Execute KERNEL of FILE, an OpenCL binary that was compiled for Tahiti (Southern Islands).

    Without KERNEL, list the kernels of FILE and what they take. Arguments are in order, or by name.
    What the kernel may write is printed: of each array, its digest and first elements.
    """
    from lockstep import api
    from lockstep.advice.advise import advise

    files = OutputFiles.taken(options)
    files.check()
    source = source or files.source_table is not None or advice
    if not timing.simulates and (files.out or files.timeline or files.report or source):
        raise click.UsageError("--out, --timeline, --report, --source and --advice need --timing")
    check_inside(inside, timing)
    timing = chosen_with(inside, timing)
    if record and not api.is_tracefile_name(record):
        raise click.UsageError(
            f"--record {record}: expected FILE.lst; Accel-Sim's format has no wavefronts"
        )
    check_writable(record)
    if kernel is None:
        for line in _kernels(path):
            click.echo(line)
        return
    targets = dict(_target(text) for text in saved)
    spec = find_gpu(gpu, overrides, quiet)
    with Progress(quiet) as progress:
        options = {"timing": timing.simulates, "choose": timing.chooser, "threads": threads}
        options |= {"progress": progress.update if timing.simulates and progress.shown else None}
        options |= {"timeline": files.timeline is not None, "memory_bytes": memory_bytes}
        options |= {"source": source} | inside_options(inside)
        device = _device(spec, path.stem, progress, options, timing.simulates)
        module = cast("GcnModule", device.load_gcn(path))
        with device.record(record) if record else nullcontext():
            sizes = global_size, local_size
            values = _run(device, module, kernel, sizes, arguments, seed, targets)
    with device:
        detail = "" if quiet else detail
        advised = advise if advice else None
        finish(device, files, detail, chooser=timing.chooser, advise=advised)
        _write(values, targets)
        if detail:
            for line in _results(values):
                click.echo(line, err=files.take_stdout)


def _kernels(path: Path) -> "Iterator[str]":
    """A line for each kernel of a binary."""
    from lockstep.device.module import read
    from lockstep.isa.gcn import container

    data, _ = read(path, "")
    for kernel in container.read(data, str(path)).kernels.values():
        yield signature(kernel)


def _device(spec, name: str, progress: Progress, options: dict, simulates: bool) -> "Device":
    from lockstep.device import Device

    if not simulates:
        for only in ("choose", "progress", "timeline", "source", "threads"):
            options.pop(only)
    return Device(spec, profile=True, name=name, notice=progress.notice, **options)


def _target(text: str) -> tuple[str, Path]:
    """An argument's name and the file that it goes to."""
    name, equals, path = text.partition("=")
    if not (name and equals and path.endswith(".npy")):
        raise click.UsageError(f"--save {text!r}: expected NAME=FILE.npy")
    check_writable(Path(path))
    return name, Path(path)


def _run(
    device: "Device",
    module: "GcnModule",
    name: str,
    sizes: tuple,
    texts: tuple[str, ...],
    seed: int,
    targets: dict[str, Path],
) -> list[Given]:
    """Launch; the arguments, as they are on the device."""
    import numpy as np

    kernel = module[name]
    if None in sizes:
        raise click.UsageError(f"--global and --local: the sizes of {name} are needed")
    declared = module.binary.kernels[name].arguments
    ordered = placed(name, declared, texts)
    arrays = [a.name for a in declared if a.kind == "image" or a.kind == "pointer"]
    for target in targets:
        if target not in arrays:
            raise click.UsageError(f"--save {target}: {name} has the arrays {', '.join(arrays)}")
    rng = np.random.default_rng(seed)
    values = [given(device, rng, a, text) for a, text in zip(declared, ordered)]
    kernel[sizes](*(value.value for value in values))
    device.synchronize()
    return values


def _write(values: list[Given], targets: dict[str, Path]) -> None:
    import numpy as np

    from lockstep.files import replacing

    for value in values:
        if path := targets.get(value.name):
            with replacing(path) as place, place.open("wb") as file:
                np.save(file, value.value.numpy())


def _results(values: list[Given]) -> "Iterator[str]":
    """A line for each array that the kernel may have written."""
    import hashlib

    for value in values:
        if value.written:
            array: Any = value.value.numpy()
            digest = hashlib.sha256(array.tobytes()).hexdigest()[:16]
            shape = ",".join(map(str, array.shape))
            first = " ".join(str(element) for element in array.ravel()[:_SHOWN])
            more = " ..." if array.size > _SHOWN else ""
            yield f"{value.name}: {array.dtype}[{shape}] sha256 {digest}: {first}{more}"

"""``lockstep proxy``: the memory behaviour of a program without the program."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockstep.cli.application import ExecutableCommand
from lockstep.cli.group import CommandGroup
from lockstep.cli.options import MEMORY, QUIET, SET
from lockstep.cli.parameters import FILE, MemorySize, check_writable
from lockstep.cli.programs import PROGRAM_GPU, PTX, program_options
from lockstep.cli.proxy_check import command as check
from lockstep.cli.proxy_check import leaked
from lockstep.cli.watched import PROGRAM, WatchedProgram, load
from lockstep.errors import InputError

if TYPE_CHECKING:
    from lockstep.cli.watched import Told
    from lockstep.device import Device
    from lockstep.proxies import ProxyProfiler

SUFFIX = ".proxy"


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Make proxies: small files that access memory as a program does, but are not the program."""


command.add_command(check, "check")


@command.command(cls=ExecutableCommand)
@program_options
@PROGRAM_GPU
@SET
@click.option(
    "--output", "-o", type=FILE, required=True, metavar="FILE", help="The proxy, FILE.proxy."
)
@click.option(
    "--method",
    default="affine",
    show_default=True,
    metavar="NAME",
    help="How a kernel is modelled: affine, gmap.",
)
@click.option(
    "--level",
    type=click.Choice(["plain", "hidden", "blurred"]),
    default="plain",
    show_default=True,
    help="What it tells: all; no names and addresses; and only rounded extents and strides.",
)
@click.option(
    "--epsilon",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    metavar="X",
    help="Of the Laplace noise of blurred counts: less is more noise.",
)
@MEMORY
@PTX
@QUIET
@click.pass_context
def profile(
    context, gpu, overrides, output, method, level, epsilon, memory_bytes, ptx, quiet, **program
) -> None:
    """Execute PROGRAM, and write a proxy of what it accesses.

    PROGRAM is a built-in one (`lockstep kernels` lists them), a PTX file, an executable that uses
    CUDA, calls that `lockstep run --record` recorded, or a trace. Nothing is simulated.
    """
    from lockstep.proxies import ProxyProfiler

    if output.suffix != SUFFIX:
        raise InputError(output, "", f"names no proxy; expected a name that ends in {SUFFIX}")
    check_writable(output)
    profiler = ProxyProfiler(method, level=level, epsilon=epsilon, leaks=not quiet)
    look = ProxyLook(profiler, output, quiet)
    given = {name: program[name] for name in PROGRAM}
    WatchedProgram(look, quiet, memory_bytes, ptx).run(context, given, gpu, overrides)


class ProxyLook:
    """Makes a proxy of the launches of a program."""

    counts = False

    def __init__(self, profiler: "ProxyProfiler", output: Path, quiet: bool):
        self._profiler, self._output, self._quiet = profiler, output, quiet
        self._name, self._gpu = output.stem, ""

    @property
    def launches(self) -> int:
        """Launches that have ended."""
        return self._profiler.launches

    def begin(self, device: "Device", told: "Told | None") -> None:
        """Watch a device."""
        self._name, self._gpu = device.name, device.gpu.name
        self._profiler.told = told
        device.watch(self._profiler)

    def read(self, path: Path, gpu: str | None, overrides: tuple[str, ...], told: "Told") -> None:
        """Read a trace."""
        workload = load(path)
        self._name, self._gpu = workload.name, workload.gpu
        self._profiler.told = told
        self._profiler.take(workload)

    def save(self) -> None:
        """What has ended so far."""
        self.finish(False)

    def finish(self, stderr: bool) -> None:
        """Write the proxy."""
        from lockstep.report.figures import scaled

        proxy = self._profiler.proxy(self._name, self._gpu)
        proxy.save(self._output)
        if not self._quiet:
            size = scaled(self._output.stat().st_size, "B")
            told = f"{proxy.level}, {self.launches} launches, {len(proxy.models)} models, "
            told += f"{proxy.numbers} numbers"
            click.echo(f"{self._output}: {told}, {size}", err=True)
            click.echo(leaked(proxy, self._profiler.leaks(proxy)), err=True)


@command.command()
@click.argument("source", metavar="PROXY", type=FILE)
@click.option("--scale", default="1", show_default=True, metavar="SHARE", help="Such as 1/8.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of what is drawn."
)
@click.option(
    "--l2",
    "l2_bytes",
    type=MemorySize(),
    default="1M",
    show_default=True,
    metavar="SIZE",
    help="The L2 that a share is for.",
)
@click.option(
    "--output", "-o", type=FILE, required=True, metavar="PATH", help="FILE.lst or a directory."
)
@QUIET
def make(source: Path, scale: str, seed: int, l2_bytes: int, output: Path, quiet: bool) -> None:
    """Write the trace of PROXY, or of a share of its accesses.

    Launches of a share over more memory than the L2 has take other CTAs, each, since they would
    find in it what the whole ones did not.
    It is one file of lockstep's own format if its name ends in .lst, else a directory that
    Accel-Sim reads.
    """
    from lockstep import api
    from lockstep.cli.convert import bytes_of
    from lockstep.proxies import Proxy
    from lockstep.report.figures import scaled

    check_writable(output, directory=not api.is_tracefile_name(output))
    workload = Proxy.load(source).workload(scale, seed, l2_bytes)
    api.save(workload, output)
    if not quiet:
        size = scaled(bytes_of(output), "B")
        click.echo(f"{output}: {len(workload.kernels)} kernels, {size}", err=True)

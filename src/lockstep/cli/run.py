"""``lockstep run``: a program in; its results checked, a summary, and the files asked for."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import asdict

from lockstep.cli import advice
from lockstep.cli.application import APPLICATION, ExecutableCommand, choose, run_application
from lockstep.cli.checks import check_options, tell
from lockstep.cli.console import console_of
from lockstep.cli.inside import INSIDE, check_inside, chosen_with, inside_options
from lockstep.cli.options import (
    INTERVAL,
    JSON,
    MEMORY,
    OUT,
    QUIET,
    REPORT,
    SET,
    SUMMARY,
    THREADS,
    TIMELINE,
    TIMING,
    advice_options,
    checkpoint_options,
    source_options,
)
from lockstep.cli.outputs import OutputFiles, take_all, write_and_show
from lockstep.cli.parameters import FILE, POSITIVE, check_writable, find_gpu
from lockstep.cli.policies import POLICY
from lockstep.cli.programs import (
    DEFAULT_GPU,
    PROGRAM_GPU,
    PROGRAM_INPUT,
    PTX,
    GivenProgram,
    program_options,
    verify,
)
from lockstep.cli.progress import Progress
from lockstep.cli.ranks import RANKS, one_of_several
from lockstep.cli.system_options import check_system, system_of, system_options
from lockstep.cli.timing import ChosenTiming, check_timing
from lockstep.errors import LockstepError
from lockstep.names import demangled

if TYPE_CHECKING:
    from rich.table import Table

    from lockstep.cli.ranks import Reach
    from lockstep.device import Device
    from lockstep.gpus.spec import GPU
    from lockstep.kernels import Check
    from lockstep.metrics.result import Result
    from lockstep.sampling.running import Chooser

_TIMED = ("interval", "source", "at_issue", "checkpoint", "resume")


@click.command(cls=ExecutableCommand)
@program_options
@PROGRAM_GPU
@system_options
@SET
@TIMING
@INSIDE
@click.option("--at-issue", is_flag=True, help="Execute as it is simulated: for locks and clocks.")
@POLICY
@MEMORY
@THREADS
@RANKS
@click.option(
    "--record",
    type=FILE,
    metavar="PATH",
    help="Write a trace: FILE.lst or a directory; of a CUDA program, its calls: a directory.",
)
@JSON
@OUT
@TIMELINE
@REPORT
@INTERVAL
@source_options
@advice_options
@PTX
@click.option(
    "--limit-instructions",
    type=POSITIVE,
    metavar="N",
    help="End a launch after N warp instructions.",
)
@checkpoint_options
@check_options
@SUMMARY
@QUIET
@click.pass_context
def command(
    context, gpu, system, gpus, overrides, timing, inside, ptx, record, detail, quiet, **options
) -> None:
    """Execute PROGRAM on a modelled GPU and check its results.

    PROGRAM is a built-in one (`lockstep kernels` lists them), a PTX file, or an executable that
    uses CUDA; what follows an executable are its own arguments, and its exit code is passed on.
    Otherwise exit code 1: it ended early and the figures are partial, or its results are wrong.
    It is 1 instead of a program's 0, too, if a kernel of it could not move or reached a limit, and
    3 if --check has found something.
    """
    from lockstep import api

    files = OutputFiles.taken(options)
    files.check()
    arguments, detail = context.meta.get(APPLICATION), "" if quiet else detail
    check_writable(record, directory=bool(record and not api.is_tracefile_name(record)))
    program = {name: options.pop(name) for name in ("name", *PROGRAM_INPUT)}
    policies = options.pop("policies")
    advised = advice.taken(options, policies)
    options["source"] = options["source"] or files.source_table is not None or advised.wanted
    check_writable(options["checkpoint"], directory=True)
    if not timing.simulates:
        check_untimed(files, policies, options)
    given = {"at_issue": options["at_issue"], "checkpoint_dir": options["checkpoint"]}
    given |= {"resume": options["resume"], "system": system, "gpus": gpus}
    check_inside(inside, timing, **given, what_if=advised.lifts)
    if timing.simulates:
        check_timing(timing, checkpoint_dir=options["checkpoint"], resume=options["resume"])
    timing = chosen_with(inside, timing)
    options |= policies | inside_options(inside)
    if files.report and not options["interval"]:
        options["interval"] = api.TIMELINE_INTERVAL
    ranks = options.pop("ranks")
    if arguments:
        check_application(ranks, advised)
        if system or gpus:
            said = asdict(files) | options | {"advice": advised.wanted}
            check_system(said, timing.chooser is not None)
        alone = partial(choose, arguments[0], gpu, overrides, quiet)
        spec = system_of(system, gpus, gpu, overrides, alone)
        options |= {"ptx": ptx, "advised": advised.wanted}
        raise SystemExit(run_application(arguments, spec, timing, record, files, detail, **options))
    check_builtin(system or gpus, ptx, advised, timing)
    with one_of_several(ranks, options["checkpoint"]) as reach:
        spec = find_gpu(DEFAULT_GPU if gpu is None else gpu, overrides, quiet)
        with advice.recorded(advised, record) as trace:
            chosen = GivenProgram(**program), spec, timing, trace, files, detail
            code = run_kernels(*chosen, reach=reach, advised=advised, **options)
    if code:
        raise SystemExit(code)


def check_untimed(files: OutputFiles, policies: dict, options: dict) -> None:
    """Refuse what a simulation alone can give; ``options``: all others, by name."""
    timed = files.out or files.timeline or files.report or policies
    if timed or any(options[name] for name in _TIMED):
        raise click.UsageError(
            "--at-issue, --out, --policy, --timeline, --report, --interval, --source, --advice, "
            "--what-if, --checkpoint-dir, --resume need --timing"
        )
    if options["ranks"] != 1:
        raise click.UsageError("--ranks needs --timing")


def check_application(ranks: int | str, advised: advice.AdviceChoice) -> None:
    """Refuse what a CUDA program cannot have, which runs once and in a process of its own."""
    if ranks != 1:
        raise click.UsageError(
            "--ranks is for built-in programs, PTX files and traces: a CUDA program runs in "
            "one process; lockstep trace makes a trace of it"
        )
    if advised.lifts:
        raise click.UsageError(
            "--what-if is for built-in programs, PTX files and traces, which can be repeated: "
            "lockstep trace makes a trace of a CUDA program"
        )


def check_builtin(
    several: object, ptx: bool, advised: advice.AdviceChoice, timing: ChosenTiming
) -> None:
    """Refuse what only CUDA programs can have; ``several``: whether more GPUs were asked for."""
    if several:
        raise click.UsageError(
            "--system and --gpus are for CUDA programs, which choose among GPUs; in Python: "
            "lockstep.System"
        )
    if ptx:
        raise click.UsageError("--ptx is for CUDA programs; built-in ones are PTX")
    if advised.lifts and timing.chooser:
        raise click.UsageError("--what-if needs --timing full: all launches are compared")


def run_kernels(
    program: GivenProgram,
    spec: "GPU",
    timing: ChosenTiming,
    record: Path | None,
    files: OutputFiles,
    detail: str,
    check_limit: int,
    reach: "Reach",
    advised: advice.AdviceChoice,
    **simulation,
) -> int:
    """Run a built-in program or a PTX file; the exit code to end with.

    ``detail``: as of :func:`.simulate.write_and_show`; without one, progress is not shown either.
    """
    from lockstep.device import Device

    with Progress(not detail) as progress:
        if timing.simulates:
            simulation["choose"] = timing.chooser
            simulation["timeline"] = files.timeline is not None
            simulation["progress"] = progress.update if progress.shown else None
            simulation["ranks"] = reach.ranks
        simulation |= {"name": program.name, "timing": timing.simulates, "notice": progress.notice}
        device = Device(spec, profile=True, **simulation)
        try:
            stopped, checks = execute(device, program, None if reach.silent else record)
        except LockstepError:
            tell(device, check_limit)
            raise
    with device:
        if reach.silent:
            verify(() if stopped else checks, quiet=True)
            return int(bool(stopped))
        advise = partial(advice.give, advised, progress=progress, trace=record)
        chooser = None if stopped else timing.chooser
        finish(device, files, detail, chooser, advise)
        found = tell(device, check_limit)
        if stopped:
            click.echo(f"lockstep: ended early: {stopped}", err=True)
            return 1
        verify(checks, not detail, files.take_stdout)
    return found


def execute(device: "Device", program: GivenProgram, record) -> "tuple[str, tuple[Check, ...]]":
    """Run a program; why it ended early, and what can be verified."""
    from lockstep.device import Stopped
    from lockstep.kernels import brought_back

    recorder = device.record(record) if record else None
    try:
        checks = brought_back(device, program.run(device))
    except Stopped as error:
        return error.reason, ()
    if recorder:
        recorder.stop()
    return "", checks


def finish(
    device: "Device",
    files: OutputFiles,
    detail: str,
    chooser: "Chooser | None" = None,
    advise: "Callable[[Result], object] | None" = None,
) -> None:
    """Write the files that were asked for, and print the summary; ``advise`` sees the result."""
    if device.timing:
        result = device.partial_result()
        if advise:
            advise(result)
        write_and_show(result, files, detail, chooser.outcome() if chooser else None)
        return
    steps: list[Callable[[], object]] = []
    if files.json_file:
        from lockstep.metrics import output

        steps.append(partial(output.write_json, files.json_file, profiles(device)))
    if detail:
        console = console_of(files.json_file)
        steps.append(lambda: console.print(profile_table(device, console.width)))
    take_all(steps)


def profiles(device: "Device") -> dict:
    """The document of ``--json`` of a run without timing."""
    return {
        "gpu": device.gpu.name,
        **device.findings.document(),
        "kernels": [
            {
                "id": launch.id,
                "name": launch.kernel.name,
                "title": demangled(launch.kernel.name),
                "grid": list(launch.geometry.grid),
                "block": list(launch.geometry.block),
                "profile": launch.profile,
                "forced": launch.forced,
            }
            for launch in device.launches
        ],
    }


def profile_table(device: "Device", width: int) -> "Table":
    """The profiles of all launches, summed by kernel."""
    from lockstep.report.columns import Column, Kind, table
    from lockstep.report.figures import count, decimal, kernel_name
    from lockstep.report.terms import terms

    totals: dict[str, list[float]] = {}
    for launch in device.launches:
        row = totals.setdefault(launch.kernel.name, [0.0] * (1 + len(_COUNTED)))
        profile = launch.profile
        for k, value in enumerate([1, *(profile[name] for name in _COUNTED)]):
            row[k] += value
    rows = [
        [
            kernel_name(name),
            *(count(int(value)) for value in row),
            decimal(row[3] / row[2]) if row[2] else "",
        ]
        for name, row in totals.items()
    ]
    words = terms(device.gpu)
    counted = (f"{words.cta}s", f"{words.warp} inst.", f"{words.thread} inst.", *_SECTORS)
    headings = [("launches", 4), *zip(counted, (0, 5, 6, 2, 1)), (f"{words.thread}s/inst.", 3)]
    shown = [Column(heading, rank=rank) for heading, rank in headings]
    return table([Column("kernel", Kind.NAME), *shown], rows, width)


_COUNTED = (
    "launch__grid_size",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
)
_SECTORS = ("load sectors", "store sectors")

"""``lockstep run``: a program in; its results checked, a summary, and the files asked for."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockstep.cli import advice
from lockstep.cli.application import APPLICATION, ExecutableCommand, choose, run_application
from lockstep.cli.checks import check_options, tell
from lockstep.cli.console import console_of, is_taken
from lockstep.cli.inside import INSIDE, check_inside, chosen_with, inside_options
from lockstep.cli.known import GPU_NAME
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
from lockstep.cli.parameters import FILE, POSITIVE, check_outputs, check_writable, find_gpu
from lockstep.cli.policies import POLICY
from lockstep.cli.programs import PROGRAM_INPUT, GivenProgram, program_options
from lockstep.cli.progress import Progress
from lockstep.cli.ranks import RANKS, one_of_several
from lockstep.cli.sampled import show_estimate
from lockstep.cli.simulate import take_all, write_and_show
from lockstep.cli.system_options import check_system, system_of, system_options
from lockstep.cli.timing import ChosenTiming
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
@click.option(
    "--gpu", type=GPU_NAME, metavar="NAME", help="The GPU; default: QV100, or by a program's code."
)
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
@click.option("--ptx", is_flag=True, help="Of a CUDA program, execute PTX, no machine code.")
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
    context, gpu, system, gpus, overrides, timing, inside, ptx, record, json_file, out, timeline,
    report, source_table, detail, quiet, **options,
) -> None:  # fmt: skip
    """Execute PROGRAM on a modelled GPU and check its results.

    PROGRAM is a built-in one (`lockstep kernels` lists them), a PTX file, or an executable that
    uses CUDA; what follows an executable are its own arguments, and its exit code is passed on.
    Otherwise exit code 1: it ended early and the figures are partial, or its results are wrong.
    It is 1 instead of a program's 0, too, if a kernel of it could not move or reached a limit, and
    3 if --check has found something.
    """
    from lockstep import api

    files = {"json_file": json_file, "out": out, "timeline": timeline, "report": report}
    files["source_table"] = source_table
    check_outputs(**files)
    arguments, detail = context.meta.get(APPLICATION), "" if quiet else detail
    check_writable(record, directory=bool(record and not api.is_tracefile_name(record)))
    program = {name: options.pop(name) for name in ("name", *PROGRAM_INPUT)}
    policies = options.pop("policies")
    advised = advice.taken(options, policies)
    options["source"] = options["source"] or source_table is not None or advised.wanted
    check_writable(options["checkpoint"], directory=True)
    wants = out or timeline or report or policies or any(options[name] for name in _TIMED)
    if not timing.simulates and wants:
        raise click.UsageError(
            "--at-issue, --out, --policy, --timeline, --report, --interval, --source, --advice, "
            "--what-if, --checkpoint-dir, --resume need --timing"
        )
    check_inside(
        inside,
        timing,
        at_issue=options["at_issue"],
        checkpoint_dir=options["checkpoint"],
        resume=options["resume"],
        system=system,
        gpus=gpus,
        what_if=advised.lifts,
    )
    timing = chosen_with(inside, timing)
    options |= policies | inside_options(inside)
    if report and not options["interval"]:
        options["interval"] = api.TIMELINE_INTERVAL
    ranks = options.pop("ranks")
    if ranks != 1 and not timing.simulates:
        raise click.UsageError("--ranks needs --timing")
    if arguments:
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
        if system or gpus:
            check_system(files | options | {"advice": advised.wanted}, timing.chooser is not None)
        spec = system_of(
            system, gpus, gpu, overrides, lambda: choose(arguments[0], gpu, overrides, quiet)
        )
        options |= {"ptx": ptx, "advised": advised.wanted}
        code = run_application(arguments, spec, timing, record, files, detail, **options)
        raise SystemExit(code)
    if system or gpus:
        raise click.UsageError(
            "--system and --gpus are for CUDA programs, which choose among GPUs; in Python: "
            "lockstep.System"
        )
    if ptx:
        raise click.UsageError("--ptx is for CUDA programs; built-in ones are PTX")
    with one_of_several(ranks, options["checkpoint"]) as reach:
        spec = find_gpu("QV100" if gpu is None else gpu, overrides, quiet)
        if advised.lifts and timing.chooser:
            raise click.UsageError("--what-if needs --timing full: all launches are compared")
        with advice.recorded(advised, record) as trace:
            given = GivenProgram(**program), spec, timing, trace, files, detail
            code = run_kernels(*given, reach=reach, advised=advised, **options)
    if code:
        raise SystemExit(code)


def run_kernels(
    program: GivenProgram,
    spec: "GPU",
    timing: ChosenTiming,
    record: Path | None,
    files: dict,
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
            simulation["timeline"] = files["timeline"] is not None
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
        finish(device, **files, detail=detail, chooser=chooser, advise=advise)
        found = tell(device, check_limit)
        if stopped:
            click.echo(f"lockstep: ended early: {stopped}", err=True)
            return 1
        verify(checks, not detail, is_taken(files["json_file"], files["timeline"], files["report"]))
    return found


def execute(device: "Device", program: GivenProgram, record) -> "tuple[str, tuple[Check, ...]]":
    """Run a program; why it ended early, and what can be verified."""
    from lockstep.device import Stopped

    recorder = device.record(record) if record else None
    try:
        checks = program.run(device)
        if device.host_takes_time:  # what a program computes it wants back
            checks = tuple(replace(check, actual=check.actual.numpy()) for check in checks)
        device.drain()
    except Stopped as error:
        return error.reason, ()
    if recorder:
        recorder.stop()
    return "", checks


def finish(
    device: "Device",
    json_file,
    out,
    timeline,
    source_table,
    report,
    detail: str,
    chooser: "Chooser | None" = None,
    advise: "Callable[[Result], object] | None" = None,
) -> None:
    """Write the files that were asked for, and print the summary; ``advise`` sees the result."""
    if device.timing:
        result = device.partial_result()
        outcome = chooser.outcome() if chooser else None
        result.estimate = outcome.document() if outcome else {}
        if advise:
            advise(result)
        write_and_show(result, json_file, out, timeline, source_table, report, detail)
        if detail and outcome:
            show_estimate(outcome, detail, err=is_taken(json_file, timeline, report))
        return
    steps = []
    if json_file:
        from lockstep.metrics import output

        steps.append(lambda: output.write_json(json_file, profiles(device)))
    if detail:
        console = console_of(json_file)
        steps.append(lambda: console.print(profile_table(device, console.width)))
    take_all(steps)


def verify(checks: "tuple[Check, ...]", quiet: bool, taken: bool = False) -> None:
    """Compare with the references; exit code 1 where something differs.

    ``taken``: standard output is for a file.
    """
    from lockstep.kernels import WrongResult

    try:
        for check in checks:
            check.verify()
    except WrongResult as wrong:
        click.echo(f"lockstep: wrong result: {wrong}", err=True)
        raise SystemExit(1) from None
    if checks and not quiet:
        right = ", ".join(check.name for check in checks)
        click.echo(f"Results are right: {right}.", err=taken)


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

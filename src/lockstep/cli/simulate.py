"""``lockstep simulate``: a trace in; a summary, and the files that were asked for."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockstep.cli import advice
from lockstep.cli.inside import INSIDE, check_inside, inside_options, rule_of
from lockstep.cli.known import GPU_NAME
from lockstep.cli.options import (
    INTERVAL,
    JSON,
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
from lockstep.cli.outputs import OutputFiles, write_and_show
from lockstep.cli.parameters import FILE, POSITIVE, KernelIds, check_writable, find_gpu
from lockstep.cli.policies import POLICY
from lockstep.cli.progress import Progress
from lockstep.cli.ranks import RANKS, one_of_several, tell_work
from lockstep.cli.timing import ChosenTiming, check_timing, check_together
from lockstep.outside.sockets import SocketMemory, connected

if TYPE_CHECKING:
    from lockstep.gpus.spec import GPU
    from lockstep.metrics.result import Result
    from lockstep.sampling.inside import Inside, Trajectory
    from lockstep.sampling.running import SampledRun, SampledTrace
    from lockstep.workload import Workload

_NOT_PLOTTED = {
    "checkpoint_dir": "what was drawn so far is in no checkpoint",
    "resume": "what was drawn so far is in no checkpoint",
}
"""Why options do not go together with a plot."""


@click.command()
@click.argument("path", type=FILE)
@click.option(
    "--gpu",
    "name",
    type=GPU_NAME,
    metavar="NAME",
    help="A GPU's name, a TOML file or a configuration of Accel-Sim (its folder, or a file of it); "
    "default: by the trace's binaries.",
)
@SET
@POLICY
@THREADS
@RANKS
@click.option("--kernels", type=KernelIds(), help="Only these kernels, e.g. 3,5-9.")
@TIMING
@INSIDE
@JSON
@OUT
@TIMELINE
@REPORT
@INTERVAL
@source_options
@advice_options
@click.option(
    "--limit-instructions",
    type=POSITIVE,
    metavar="N",
    help="End after N warp instructions, all warps together.",
)
@checkpoint_options
@click.option(
    "--outside",
    metavar="PLACE",
    help="Let another simulator model L2 and DRAM: unix:PATH, tcp:HOST:PORT or fd:NUMBER.",
)
@click.option("--limit-cycles", type=POSITIVE, metavar="N", help="Stop after N cycles.")
@click.option(
    "--plot",
    type=FILE,
    metavar="FILE",
    help="Draw IPC over the time of the longest kernel, and where PKP would end it: .png or .svg.",
)
@SUMMARY
@QUIET
def command(
    path, name, overrides, policies, timing, inside, plot, outside, detail, quiet, **options
) -> None:
    """Simulate the trace at PATH.

    PATH is a kernelslist.g or its directory, a .traceg, .trace or .tracez file, also compressed,
    or a trace file that lockstep wrote. With --timing some kernels are simulated and all estimated;
    of live points, all launches that they stand for are, unless --kernels chooses some. Exit code
    1: it ended early, the results are partial.
    """
    from lockstep import api

    files, advised = OutputFiles.taken(options), advice.taken(options, policies)
    options["source"] = options["source"] or files.source_table is not None or advised.wanted
    given = {"checkpoint_dir": options["checkpoint"], "resume": options["resume"], "plot": plot}
    given |= {"outside": outside, "what_if": advised.lifts}
    check_inside(inside, ChosenTiming(True), **given)
    check_timing(timing, kernels=options["kernels"], **given)
    if plot:
        check_together("--plot", _NOT_PLOTTED, {name: given[name] for name in _NOT_PLOTTED})
    with one_of_several(options.pop("ranks"), options["checkpoint"]) as reach:
        if not reach.silent:
            files.check()
            check_writable(options["checkpoint"], directory=True)
        trajectory = looking_on(plot) if plot else None
        if name is not None:
            api.gpu(name, overrides)  # before the trace is read: it may be a large one
        workload = api.load(path)
        gpu = choose(workload, name, overrides, quiet)
        rules = inside_options(inside, workload)
        sampled = sample_of(timing, rule_of(rules) if inside else None)
        if trajectory:
            rules = {"stop": trajectory, "stop_interval": trajectory.bin}
        if files.report and not options["interval"]:
            options["interval"] = api.TIMELINE_INTERVAL
        with Progress(quiet) as progress:
            result = api.simulate(
                workload,
                gpu,
                ranks=reach.ranks,
                timeline=files.timeline is not None,
                progress=progress.update if progress.shown else None,
                notice=progress.notice,
                outside=SocketMemory(connected(outside)) if outside else None,
                sample=sampled,
                **policies,
                **options,
                **rules,
            )
        reach.leave(bool(result.stopped))
        advice.give(advised, result, progress)
    detail = "" if quiet else detail
    if sampled:
        outcome = None if result.stopped else sampled.outcome()
    else:
        outcome = estimated(result, options["kernels"], detail, rule_of(rules) if inside else None)
    write_and_show(result, files, detail, outcome)
    if trajectory:
        draw_ipc(trajectory, result, plot)
    if detail:
        tell_work(result.run.ranks)
    if result.stopped:
        click.echo(f"lockstep: ended early: {result.stopped}", err=True)
        raise SystemExit(1)


def sample_of(timing: ChosenTiming, inside: "Inside | None") -> "SampledTrace | None":
    """What chooses kernels, if not all are simulated."""
    if timing.chooser is None:
        return None
    from lockstep.sampling.running import SampledTrace

    return SampledTrace(timing.chooser, inside)


def looking_on(plot: Path) -> "Trajectory":
    """What looks at IPC for a plot; raises before a long run if none could be drawn after it."""
    from lockstep.report.pictures import check_plot
    from lockstep.sampling.inside import Trajectory

    check_writable(plot)
    check_plot(plot)
    return Trajectory()


def draw_ipc(trajectory: "Trajectory", result: "Result", plot: Path) -> None:
    """IPC over the time of the kernel that took longest."""
    from lockstep.report.pictures import write_plot
    from lockstep.sampling.plots import ipc_over_time

    longest = max(result.run.kernels, key=lambda run: run.cycles, default=None)
    if longest is None or longest.id not in trajectory.marks:
        click.echo(f"lockstep: {plot} was not drawn: no kernel ran for a bin of IPC", err=True)
        return
    write_plot(ipc_over_time(trajectory, longest.id), plot)


def estimated(
    result: "Result", kernels: object, detail: str, inside: "Inside | None"
) -> "SampledRun | None":
    """What live points say of all launches, where all of them were simulated.

    Of another trace, what all of its launches take where a rule lets them run in part. Says on
    stderr, unless ``detail`` is "", if points were made for a smaller L2.
    """
    if inside and (not result.workload.points or kernels is not None):
        from lockstep.sampling.running import estimate_all

        return None if result.stopped else estimate_all(result, inside)
    if not result.workload.points:
        return None
    from lockstep.gpus.library import totals
    from lockstep.report.figures import scaled
    from lockstep.sampling import LivePoints, estimate_points

    kept, l2_bytes = LivePoints.of(result.workload).l2_bytes, totals(result.gpu).l2_bytes
    if kept < l2_bytes and detail:
        click.echo(
            f"lockstep: the live points are for an L2 of at most {scaled(kept, 'B')}, and that of "
            f"{result.gpu.name} has {scaled(l2_bytes, 'B')}: lockstep trace --l2",
            err=True,
        )
    if kernels is not None or result.stopped:
        return None
    return estimate_points(result, inside=inside)


def choose(
    workload: "Workload", name: str | None, overrides: tuple[str, ...], quiet: bool
) -> "GPU":
    """The GPU that was asked for, else the one that suits the trace, said on stderr."""
    from lockstep import api

    if name is not None:
        return find_gpu(name, overrides, quiet)
    chosen = api.gpu_for(workload).name
    gpu = api.gpu(chosen, overrides)
    if not quiet:
        version = max((k.architecture for k in workload.kernels), default=0)
        why = f"has binaries of version {version}" if version else "has no binary version"
        why = "was recorded on it" if workload.gpu == chosen else why
        click.echo(f"GPU: {chosen} (the trace {why}; --gpu chooses)", err=True)
    return gpu

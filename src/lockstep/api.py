"""The public functions: load a workload, choose a GPU, simulate."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lockstep.errors import InputError, LockstepError, WorkloadError
from lockstep.files import unwritable
from lockstep.gpus import library
from lockstep.gpus.spec import GPU
from lockstep.metrics.result import Result
from lockstep.policies import select
from lockstep.workload import Kernel, MemoryCopy, Workload

if TYPE_CHECKING:  # importing the engine imports the compiler
    from lockstep.engine import Drive
    from lockstep.engine.beginning import Chosen
    from lockstep.engine.progress import Progress
    from lockstep.engine.stop import StopRule
    from lockstep.engine.transport import Communicator
    from lockstep.outside import OutsideMemory

FirstCta = Mapping[int, int] | Callable[[Kernel], int]

TRACEFILE_SUFFIX = ".lst"  # lockstep's own trace format
SHOWN_IDS = 10  # of kernels that are not there
TIMELINE_INTERVAL = 500  # cycles between counter samples of a timeline, where none is given


def load(path: str | Path) -> Workload:
    """Read a workload of any kind that lockstep knows: its own traces, Accel-Sim's, or a proxy.

    ``path`` is a file, or a directory with a ``kernelslist.g``. Only what is needed to begin is
    read: a workload streams the rest, each time it is simulated. Raises
    :class:`~lockstep.errors.InputError` for whatever is wrong with the files.
    """
    _check_no_calls(Path(path))
    path = Path(path)
    if is_tracefile_name(path) or _has_tracefile_content(path):
        from lockstep.frontend import tracefile

        return tracefile.load(path)
    if not _is_accelsim_name(path):
        from lockstep.frontend import proxy

        if proxy.is_proxy(path):
            return proxy.Proxy.load(path).workload()
    from lockstep.frontend import accelsim

    return accelsim.load(path)


def trace_files(path: str | Path) -> list[Path | MemoryCopy]:
    """The file of each kernel launch of an Accel-Sim trace, and the copies, in order.

    ``path`` and errors as of :func:`load`; lockstep's own trace files are one file, and not meant.
    """
    from lockstep.frontend import accelsim

    return accelsim.trace_files(path)


def save(workload: Workload, path: str | Path, tracer: int = 6) -> None:
    """Write a workload: to one file of lockstep's own format, or as a directory of Accel-Sim's.

    The name decides, see :func:`is_tracefile_name`. ``tracer``: the newest version of Accel-Sim's
    tracer whose format is used; 5 leaves predicates and uniform registers out.
    """
    from lockstep.frontend import accelsim, tracefile

    path = Path(path)
    try:
        if is_tracefile_name(path):
            tracefile.write(workload, path)
        else:
            accelsim.write(workload, path, tracer)
    except OSError as error:
        raise unwritable(path, error) from error


def is_tracefile_name(path: str | Path) -> bool:
    """Whether a path is named as a trace file of lockstep's own format."""
    return Path(path).suffix == TRACEFILE_SUFFIX


def gpu(
    name: str | Path,
    overrides: Iterable[str] = (),
    warn: Callable[[str], None] | None = None,
) -> GPU:
    """A GPU of the library or of a file, with overrides such as ``["sm.count=40"]``.

    A file is a TOML data file, or an Accel-Sim configuration: its folder, ``gpgpusim.config`` or
    ``trace.config``, each standing for both, also where they are in Accel-Sim's two trees. Options
    of a configuration without counterpart are left out; ``warn`` is called with a line of text
    that says how many, or what else is missing.
    """
    if not is_configuration(name):
        return library.apply(library.gpu(name), overrides)
    from lockstep.frontend.accelsim import config

    imported = config.load(name)
    if warn and imported.warnings:
        count = len(imported.warnings)
        more = f" (and {count - 1} more: lockstep gpus {name})" if count > 1 else ""
        warn(f"{imported.warnings[0]}{more}")
    return library.apply(imported.gpu, overrides)


def is_configuration(name: str | Path) -> bool:
    """Whether a name is that of an Accel-Sim configuration: a ``*.config`` file, or a folder."""
    known = (each.lower() for each in gpu_names())
    path = Path(name)
    if str(name).lower() in known or not str(name):
        return False
    return path.suffix == ".config" or path.is_dir()


def gpu_names() -> list[str]:
    """The names of the GPUs in the library."""
    return library.names()


def gpu_for(workload: Workload) -> GPU:
    """The GPU of the library that a workload was recorded on, else whose binaries its kernels are.

    Where no GPU runs that version natively, the one with the nearest lower version.
    """
    if workload.gpu in gpu_names():
        return library.gpu(workload.gpu)
    version = max((k.architecture for k in workload.kernels), default=0)
    return max((library.gpu(name) for name in gpu_names()), key=lambda g: _fitness(g, version))


def simulate(
    workload: Workload | str | Path,
    gpu: GPU | str | Path,
    *,
    threads: int = 1,
    ranks: "int | Communicator" = 1,
    scheduler: Callable | None = None,
    l1_replacement: Callable | None = None,
    l2_replacement: Callable | None = None,
    l1_prefetcher: Callable | None = None,
    l2_prefetcher: Callable | None = None,
    slice_hash: Callable | None = None,
    dram_scheduler: Callable | None = None,
    kernels: Iterable[int] | None = None,
    warm: Iterable[int] = (),
    sample: "Drive | None" = None,
    limit_instructions: int | None = None,
    limit_cycles: int | None = None,
    stop: "StopRule | None" = None,
    stop_interval: int | None = None,
    first_cta: FirstCta | None = None,
    interval: int | None = None,
    timeline: bool = False,
    source: bool = False,
    outside: "OutsideMemory | None" = None,
    checkpoint: str | Path | None = None,
    checkpoint_seconds: float = 60.0,
    resume: str | Path | None = None,
    progress: "Progress | None" = None,
    notice: Callable[[str], None] | None = None,
) -> Result:
    """Run a workload on a GPU. Results do not depend on ``threads``, nor on ``ranks``.

    ``ranks`` cuts the GPU into so many machines of this process, each with its part of the SMs and
    of the memory and ``threads`` of its own, that tell each other in packets what crosses. A
    communicator of mpi4py makes each of its processes one of them: all call this function with the
    same arguments and get the same result, see docs/ranks.md.
    ``kernels`` selects kernels by id; those of ``warm`` are not simulated, but leave in the caches
    what they would leave there, see docs/warming.md. ``sample`` decides about both as the kernels
    come: a :class:`.SampledTrace`, which then estimates all of them. The limits end the run early,
    with a partial result that says so. ``stop(kernel, cycle, counters)`` ends a kernel where it
    returns True or a reason; it is asked every ``stop_interval`` cycles (default: 1000), see
    :mod:`lockstep.engine.stop`.
    ``first_cta`` says at which CTA kernels begin: numbers by kernel id, or a function of a kernel.
    Such kernels are marked: not ``complete``, with the CTAs that were done. ``interval`` asks for
    a time series, one sample every so many cycles; ``timeline`` also records when each CTA ran;
    ``source`` counts what each instruction did, see docs/source-view.md. ``outside`` models the
    memory behind the crossbar, L2 and DRAM, in another simulator, see docs/outside.md.
    ``scheduler`` and the other policies are plain functions that replace the built-in ones; their
    signatures are in the documentation. ``progress`` is called now and then with finished CTAs,
    all CTAs, the cycle, warp instructions and a kernel's name, ``notice`` with a line of text when
    something takes long, such as the first compilation.

    ``checkpoint`` is a folder into which the whole state is written every ``checkpoint_seconds``;
    ``resume`` is such a folder: the run goes on there, on any number of threads and ranks, and
    gives what it would have given. Raises :class:`InputError` if it is damaged or of anything else.
    """
    from lockstep import engine
    from lockstep.engine import beginning, mpi

    _check_counts(threads=threads, limit_instructions=limit_instructions)
    _check_counts(ranks=ranks if isinstance(ranks, int) else None)
    _check_counts(limit_cycles=limit_cycles, interval=interval, stop_interval=stop_interval)
    policies = select(
        {
            "scheduler": scheduler,
            "l1_replacement": l1_replacement,
            "l2_replacement": l2_replacement,
            "l1_prefetcher": l1_prefetcher,
            "l2_prefetcher": l2_prefetcher,
            "slice_hash": slice_hash,
            "dram_scheduler": dram_scheduler,
        }
    )
    if sample and (kernels is not None or warm or checkpoint or resume):
        raise LockstepError("a sample chooses kernels as they come: without others, or checkpoints")
    with mpi.reached(ranks) as reach:
        workload = workload if isinstance(workload, Workload) else load(workload)
        gpu = gpu if isinstance(gpu, GPU) else find_gpu(gpu)
        choice = _choice(workload, kernels, warm, first_cta)
        keeping = beginning.Keeping(
            Path(checkpoint) if checkpoint else None,
            checkpoint_seconds,
            Path(resume) if resume else None,
        )
        recorded = {"interval": interval, "timeline": timeline, "choice of counts": source}
        frozen, keep = beginning.begin(
            reach,
            keeping,
            lambda: beginning.identity(workload, gpu, choice, recorded, policies),
            (limit_cycles, limit_instructions, stop is not None, stop_interval),
            notice,
        )
        run = engine.run(
            workload,
            gpu,
            frozen=frozen,
            keep=keep,
            warm=choice.warm,
            drive=sample,
            threads=threads,
            ranks=reach,
            kernels=choice.kernels,
            limit_instructions=limit_instructions,
            limit_cycles=limit_cycles,
            stop=stop,
            stop_interval=stop_interval,
            first_cta=choice.first_ctas,
            interval=interval or (TIMELINE_INTERVAL if timeline else None),
            cta_events=timeline,
            source=source,
            outside=outside,
            policies=policies,
            progress=progress,
            notice=notice,
        )
    return Result(run, gpu, workload)


find_gpu = gpu  # for functions with a parameter of that name


def _is_accelsim_name(path: Path) -> bool:
    """Such names are believed: reading our magics would import readers for nothing."""
    return path.is_dir() or path.name.startswith("kernelslist") or ".trace" in path.name


def _check_no_calls(path: Path) -> None:
    """Refuse a directory of a program's recorded calls, which are no trace."""
    if not path.is_dir():
        return
    from lockstep.frontend.cuda.record import FILE

    if (path / FILE).is_file():
        raise InputError(path, "", "holds a program's calls: `lockstep replay` executes them")


def _has_tracefile_content(path: Path) -> bool:
    if _is_accelsim_name(path) or not path.is_file():
        return False
    from lockstep.frontend.tracefile.container import MAGIC

    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise InputError(path, "", f"cannot read: {error.strerror or error}") from error


def _fitness(gpu: GPU, version: int) -> tuple:
    """How well a GPU suits a binary version; the largest tuple is the best."""
    runs = version in gpu.architectures
    lower = max((a for a in gpu.architectures if a <= version), default=-1)
    return runs, lower, bool(gpu.validated)


def _choice(
    workload: Workload,
    kernels: Iterable[int] | None,
    warm: Iterable[int],
    first_cta: FirstCta | None,
) -> "Chosen":
    from lockstep.engine.beginning import Chosen

    selected, warmed = None if kernels is None else set(kernels), set(warm)
    _check_ids(workload, selected or set())
    _check_ids(workload, warmed)
    if both := warmed & (selected or set()):
        raise WorkloadError(f"kernel {min(both)} cannot be simulated and warmed: choose one")
    return Chosen(selected, warmed, _first_ctas(workload, first_cta))


def _first_ctas(workload: Workload, first: FirstCta | None) -> dict[int, int]:
    """The kernels that do not begin at CTA 0, by id."""
    if callable(first):
        first = {kernel.id: first(kernel) for kernel in workload.kernels}
    first = first or {}
    _check_ids(workload, set(first))
    return {number: cta for number, cta in first.items() if cta}


def _check_ids(workload: Workload, wanted: set[int]) -> None:
    known = {k.id for k in workload.kernels}
    if not wanted <= known:
        missing = ", ".join(map(str, sorted(wanted - known)[:SHOWN_IDS]))
        missing += ", ..." if len(wanted - known) > SHOWN_IDS else ""
        span = f"{min(known)} to {max(known)}" if known else "none"
        raise WorkloadError(f"no kernel {missing} in {workload.name}; its kernels are {span}")


def _check_counts(**counts: int | None) -> None:
    for name, value in counts.items():
        if value is not None and value < 1:
            raise LockstepError(f"{name} is {value}; expected at least 1")

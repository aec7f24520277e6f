"""Where a run of a workload begins: at cycle 0 or at a checkpoint, and alike on all ranks."""

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from lockstep.engine.checkpoint import KIND, Keeper, load, source_digest
from lockstep.engine.transport import Transport, check_alike
from lockstep.gpus import library
from lockstep.gpus.spec import GPU
from lockstep.policies import describe
from lockstep.workload import Workload


class Chosen(msgspec.Struct, frozen=True):
    """What of a workload runs, by kernel ids."""

    kernels: set[int] | None  # None: all
    warm: set[int]
    first_ctas: dict[int, int]


class Keeping(msgspec.Struct, frozen=True):
    """The folders of checkpoints: written every so many ``seconds``, taken up at the start."""

    checkpoint: Path | None
    seconds: float
    resume: Path | None


def identity(
    workload: Workload,
    gpu: GPU,
    choice: Chosen,
    recorded: Mapping[str, object],
    policies: dict[str, Callable],
) -> dict[str, str]:
    """What the state of a run depends on, by names that an error calls it by.

    ``recorded``: what is of it, besides counters, and how often.
    """
    kernels = choice.kernels and sorted(choice.kernels)
    parts = kernels, sorted(choice.first_ctas.items()), sorted(choice.warm)
    return {
        KIND: "a trace",
        "version of lockstep": source_digest(),
        "GPU": library.digest(gpu),
        "workload": workload.digest,
        "choice of kernels": repr(parts),
        **{name: repr(value) for name, value in recorded.items()},
        "policy": repr({n: describe(f)["digest"] for n, f in policies.items()}),
    }


def begin(
    ranks: int | Transport,
    keeping: Keeping,
    identify: Callable[[], dict[str, str]],
    limits: object,
    notice: Callable[[str], None] | None,
) -> tuple[dict | None, Keeper | None]:
    """The state that a run goes on from, if any, and what keeps those to come, if asked to.

    ``limits`` end the run early. Raises :class:`~lockstep.errors.InputError` for a checkpoint of
    anything else, :class:`~lockstep.errors.LockstepError` for ranks that are to do anything else.
    """
    elsewhere = None if isinstance(ranks, int) else ranks
    if not (keeping.checkpoint or keeping.resume or elsewhere):
        return None, None
    same = identify()
    if elsewhere:
        asked = repr((bool(keeping.checkpoint), bool(keeping.resume)))
        check_alike(elsewhere, same | {"limit": repr(limits), "checkpoint": asked})
    frozen = load(keeping.resume, same) if keeping.resume else None
    if frozen and elsewhere:
        check_alike(elsewhere, {"checkpoint": f"cycle {frozen['plain']['now']}"})
    if keeping.checkpoint is None:
        return frozen, None
    return frozen, Keeper(keeping.checkpoint, keeping.seconds, same, notice)

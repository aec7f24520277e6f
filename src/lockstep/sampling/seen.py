"""What a run of a plan has observed, from the file that it wrote."""

from pathlib import Path

import numpy as np

from lockstep.errors import InputError
from lockstep.sampling.documents import read_document
from lockstep.sampling.plan import Plan


def read_seen(path: str | Path, plan: Plan) -> np.ndarray:
    """Cycles of each chosen launch of a plan, float64, as ``lockstep run --json`` wrote them.

    Raises :class:`InputError` if the file is none of a run of this plan.
    """
    document = read_document(path, "results")
    if "inside" in document.get("estimate", {}):
        what = "launches ran in part, and a plan goes on from whole ones: run without --inside"
        raise InputError(path, "", what)
    try:
        observed = document["estimate"]["observed"]
        launches = np.array(observed["launch"], np.int64)
        cycles = np.array(observed["cycles"], np.float64)
    except (KeyError, TypeError, ValueError, OverflowError):
        what = "has no estimate of a sampled run: lockstep run --timing plan:FILE --json"
        raise InputError(path, "", what) from None
    if not np.array_equal(launches, plan.chosen) or cycles.shape != launches.shape:
        raise InputError(
            path,
            "",
            f"observed {len(launches)} launches, and not the {len(plan.chosen)} that the plan "
            "chooses: it is of another plan",
        )
    return cycles

"""The cycles in which a compute unit issues the instructions of its wavefronts."""

from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest

import wavefront_programs
from lockstep import engine
from lockstep.engine.record import totals
from lockstep.gpus import library
from lockstep.model.cu import scheduler

TINY = {
    "sm.count": 1,
    "cu.neighbours": (1,),
    "sm.front_end.l1_bytes": 0,  # perfect
    "sm.front_end.l1_latency": 1,
    "dram.channels": 1,
    "launch.overhead": 0,
    "launch.concurrent_kernels": 4,
}


@pytest.fixture(scope="session")
def wavefronts():
    """The module ``wavefront_programs``: ``make`` and ``wait``."""
    return wavefront_programs


@pytest.fixture(scope="session")
def tiny_cu():
    """Function from overrides to a GPU of one compute unit whose kernels start at cycle 0."""
    return lambda base="HD7770", **changes: library.replace(
        library.gpu(base),
        **TINY | {name.replace("__", "."): value for name, value in changes.items()},
    )


@pytest.fixture(scope="session")
def watch_cu():
    """Function that runs a workload without JIT and notes every issue of a wavefront.

    ``.issues`` are (cycle, CU, wavefront slot, static index), ``.of(w)`` the cycles of one.
    """

    def run(workload, gpu, **options):
        seen, issue = [], scheduler.issue

        def note(c, s, b, w, now):
            if c.warps[s, w].left > 0:
                seen.append(tuple(map(int, (now, s, w, c.warps[s, w].static))))
            return issue(c, s, b, w, now)

        with mock.patch.object(scheduler, "issue", note):
            result = engine.run(workload, gpu, **options)
        counters = totals(np.concatenate([k.sm for k in result.kernels]))
        return SimpleNamespace(
            issues=sorted(seen),
            of=lambda slot, cu=0: [i[0] for i in sorted(seen) if i[1:3] == (cu, slot)],
            run=result,
            counters=counters,
            stalls=counters["stalls"],
        )

    return run

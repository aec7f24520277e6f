"""What ``lockstep cache build`` makes ahead of time, by doing small what users do."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lockstep.errors import LockstepError

GPU = "QV100"
Notice = Callable[[str], None]


@dataclass(frozen=True)
class Step:
    """``build`` says why something is missing, or ""."""

    what: str
    build: Callable[[Notice], str]


def _model(notice: Notice) -> str:
    from lockstep import api
    from lockstep.engine.compilation import compile_model

    compile_model(api.gpu(GPU), notice)
    return ""


def _readers(notice: Notice) -> str:
    """Both formats of traces are read, and one is written; a kernel is warmed."""
    from lockstep import api
    from lockstep.report import benchmark

    texts = next(p for p in benchmark.examples() if p.suffix != api.TRACEFILE_SUFFIX)
    api.simulate(texts, GPU)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.lst"
        api.save(api.load(texts), path)
        workload = api.load(path)
        api.simulate(workload, GPU, warm=[workload.kernels[0].id])
    return ""


def _programs(notice: Notice) -> str:
    """Plain, timed and at issue: each has machine code of its own."""
    from lockstep import kernels
    from lockstep.device import Device

    for name in kernels.names():
        program = kernels.load(name)
        for timed, at_issue in ((False, False), (True, False), (True, True)):
            with Device(
                GPU, timing=timed, at_issue=at_issue, profile=True, notice=notice
            ) as device:
                program.run(device, program.small)
                device.synchronize()
    return ""


def _checks(notice: Notice) -> str:
    """What all programs with a check call; their own code is translated when it is needed."""
    from lockstep import kernels
    from lockstep.device import Device

    program = kernels.load("reduce_shared")
    with Device(GPU, check="all", notice=notice) as device:
        program.run(device, program.small)
    return ""


def _runtime(notice: Notice) -> str:
    from lockstep.frontend.cuda import build

    try:
        build.libraries()
    except LockstepError as error:
        return str(error)
    return ""


STEPS = (
    Step("the model", _model),
    Step("readers of traces", _readers),
    Step("the built-in programs", _programs),
    Step("the checks", _checks),
    Step("the replacement of the CUDA runtime", _runtime),
)

"""Which GPU of the library a device is most like: what no row tells is taken from it."""

import re

from lockstep.errors import SpecError
from lockstep.gpus import library
from lockstep.gpus.datafile import LoadedGpu
from lockstep.tuning.facts import DeviceFacts
from lockstep.tuning.rows import Row, Rows

LIKES = ("KEPLER_TITAN", "TITANX", "QV100", "RTX2060", "A100", "RTX3070", "H100")
"""One GPU for each architecture: the one whose numbers are known best."""
CORE = "sm"  # what the microbenchmarks measure
_CAPABILITY = re.compile(r"\b(?:compute capability|compute|sm)[ _]?(\d{1,2})\.?(\d)\b", re.ASCII)


def base_of(name: str | None, rows: Rows, facts: DeviceFacts) -> LoadedGpu:
    """The base: ``name``, else that of the facts, else the device's like.

    That is the GPU whose name is a word of the device's, or one of its architecture, which the
    notes of ``device.sms`` tell as a compute capability. Raises :class:`SpecError`.
    """
    wanted = name or facts.base
    device = rows.named("device.sms")
    if not wanted and device:
        wanted = _by_name(device[0]) or _by_capability(device[0])
    if wanted:
        return _checked(library.loaded(wanted), rows)
    called = device[0].parameters[:80] if device else "without a row device.sms"
    raise SpecError(
        f"{rows.path}: the device, {called}, is like no GPU of the library for certain; say with "
        f"--base which is nearest: {', '.join(_bases())}"
    )


def _checked(base: LoadedGpu, rows: Rows) -> LoadedGpu:
    """A base whose parameters are those that rows tell."""
    if base.gpu.core != CORE:
        raise SpecError(
            f"{rows.path}: {base.gpu.name} has compute units, of which the microbenchmarks, CUDA "
            f"programs, tell nothing; say with --base which GPU is nearest: {', '.join(_bases())}"
        )
    return base


def _bases() -> list[str]:
    return [name for name in library.names() if library.gpu(name).core == CORE]


def _by_name(device: Row) -> str | None:
    words = device.parameters.upper().split()
    return next((known for known in library.names() if known in words), None)


def _by_capability(device: Row) -> str | None:
    found = _CAPABILITY.search(device.notes)
    if not found:
        return None
    capability = int(found[1] + found[2])
    older = [known for known in LIKES if _architecture(known) <= capability]
    return max(older, key=_architecture, default=None)


def _architecture(name: str) -> int:
    return max(library.gpu(name).architectures)

"""The hash of a workload's content: of all copies, kernels, instructions and streams."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields

from lockstep.host_calls import MemoryCopy
from lockstep.workload.kernel import Kernel
from lockstep.workload.streams import Cta
from lockstep.workload.warm import WarmSet

_HASHED_OTHERWISE = ("name", "code", "ctas", "source", "again", "scalar_registers")
_HASHED_NUMBERS = [f.name for f in fields(Kernel) if f.name not in _HASHED_OTHERWISE]


def digest_of(name: str, points: str, commands: Sequence[Kernel | MemoryCopy | WarmSet]) -> str:
    """SHA-256 in hexadecimal of what a :class:`.Workload` has; reads every CTA."""
    digest = hashlib.sha256()
    for part in _hashed(name, points, commands):
        digest.update(b"%d:" % len(part))  # so that no part can pass for the end of another
        digest.update(part)
    return digest.hexdigest()


def _hashed(
    name: str, points: str, commands: Sequence[Kernel | MemoryCopy | WarmSet]
) -> Iterator[bytes]:
    yield _text(name)
    if points:
        yield _text(points)
    for command in commands:
        if isinstance(command, MemoryCopy):
            yield _text(f"copy {command.address} {command.bytes}")
        elif isinstance(command, WarmSet):
            yield command.runs.tobytes()
            yield command.launches.tobytes()
        else:
            yield from _hashed_kernel(command)


def _hashed_kernel(kernel: Kernel) -> Iterator[bytes]:
    yield _text(f"kernel {kernel.name}")
    for name in _HASHED_NUMBERS:
        value = getattr(kernel, name)
        yield _integers(value if isinstance(value, tuple) else (value,))
    if kernel.scalar_registers:  # without them a digest is what it was before there were any
        yield _integers((kernel.scalar_registers,))
    for cta in kernel.ctas():
        yield from _hashed_cta(cta)
    yield kernel.code.instructions.tobytes()  # last: reading the CTAs may append some
    yield from map(_text, kernel.code.texts)


def _hashed_cta(cta: Cta) -> Iterator[bytes]:
    yield _integers(cta.index)
    for array in (cta.warps, cta.runs, cta.addresses, cta.pool):
        yield array.tobytes()


def _integers(values: Iterable[int]) -> bytes:
    return " ".join(str(int(n)) for n in values).encode()


def _text(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")

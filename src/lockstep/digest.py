"""A hash of what a workload is, for front ends that know no quicker one: all of it is read."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import fields

from lockstep.workload import Cta, Kernel, MemoryCopy, Workload

_OTHERS = ("name", "code", "ctas", "source")
_NUMBERS = [f.name for f in fields(Kernel) if f.name not in _OTHERS]


def of_content(workload: Workload) -> str:
    """SHA-256 in hexadecimal of all copies, kernels, instructions and streams; reads every CTA."""
    digest = hashlib.sha256()
    for part in _parts(workload):
        digest.update(b"%d:" % len(part))  # so that no part can pass for the end of another
        digest.update(part)
    return digest.hexdigest()


def _parts(workload: Workload) -> Iterator[bytes]:
    yield _text(workload.name)
    for command in workload.commands:
        if isinstance(command, MemoryCopy):
            yield _text(f"copy {command.address} {command.bytes}")
        else:
            yield from _kernel(command)


def _kernel(kernel: Kernel) -> Iterator[bytes]:
    yield _text(f"kernel {kernel.name}")
    for name in _NUMBERS:
        value = getattr(kernel, name)
        yield _integers(value if isinstance(value, tuple) else (value,))
    for cta in kernel.ctas():
        yield from _cta(cta)
    yield kernel.code.instructions.tobytes()  # last: reading the CTAs may append some
    yield from map(_text, kernel.code.texts)


def _cta(cta: Cta) -> Iterator[bytes]:
    yield _integers(cta.index)
    for array in (cta.warps, cta.runs, cta.addresses, cta.pool):
        yield array.tobytes()


def _integers(values: Iterable[int]) -> bytes:
    return " ".join(str(int(n)) for n in values).encode()


def _text(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")

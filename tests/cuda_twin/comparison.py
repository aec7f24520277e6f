"""Random programs on a modelled GPU, compared with what C++ gives on this host."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import lockstep
from cuda_twin.build import Built, Data, fresh, given
from cuda_twin.generator import PARAMETERS, Program
from lockstep.errors import LockstepError

MEMORY = 1 << 28
DYNAMIC_BYTES = 512
GPUS = {"75": "RTX2060", "80": "A100", "86": "RTX3070", "90": "H100"}  # by architecture
LIMIT = 50_000_000  # warp instructions of a launch


class Mismatch(NamedTuple):
    """A program that goes wrong as ``form``: as in ``FORMS``."""

    name: str
    form: str
    problem: str


class UndefinedProgram(Exception):
    """The generator made a program whose result depends on the order of threads."""


def compare(built: Built, **device: object) -> Iterator[Mismatch]:
    """All programs that go wrong in one of their forms; ``device``: options of the device.

    They compute something else, lanes do not come to an operation that names them, or a check of
    the device finds a mistake.
    """
    expected = [built.on_host(k) for k in range(len(built.programs))]
    for k, one in enumerate(built.programs):
        if difference(expected[k], built.on_host(k, backwards=True)):
            raise UndefinedProgram(one.name)
    for form in built.forms[0]:
        for k, one in enumerate(built.programs):
            code = built.forms[k][form]
            if code is None:
                continue
            try:
                with opened(form, **device) as gpu:  # of its own: a deadlock ends its simulation
                    found, forced = execute(gpu, code, one)
                    problem = difference(expected[k], found)
                    if forced and not problem:
                        problem = f"lanes went on {forced} times without others they waited for"
                    problem = problem or next(map(str, gpu.findings), "")
            except LockstepError as error:
                problem = f"{type(error).__name__}: {error}"
            if problem:
                yield Mismatch(one.name, form, problem)


def opened(form: str, **options: object) -> lockstep.Device:
    """A device for machine code of that form, or for PTX."""
    gpu = GPUS[form.partition("_")[2]]
    return lockstep.Device(gpu, memory_bytes=MEMORY, limit_instructions=LIMIT, **options)


def execute(device: lockstep.Device, code: str | bytes, one: Program) -> tuple[Data, int]:
    """What a program computes on a device, as PTX or as a cubin; its launch's ``forced``."""
    module = device.load_ptx(code) if isinstance(code, str) else device.load_cubin(code)
    arrays = [device.array(array) for array in (given(one), *fresh(one))]
    kernel = module[f"{one.name}_kernel"]
    launched = kernel[one.grid, one.block, DYNAMIC_BYTES](*arrays, *PARAMETERS)
    device.synchronize()
    return Data(*(array.numpy() for array in arrays[1:])), launched.forced


def difference(expected: Data, found: Data) -> str:
    """Where results differ first, and how many do; "" if they are the same."""
    places = []
    for name, one, other in zip(Data._fields, expected, found):
        for place in np.argwhere(one != other):
            where = tuple(int(n) for n in place)
            places.append(f"{name}{list(where)} = {int(other[where]):#x}, not {int(one[where]):#x}")
    return f"{places[0]} ({len(places)} differ)" if places else ""

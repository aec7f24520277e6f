"""The digest: equal for equal content, different for any difference, made only when asked for."""

from dataclasses import replace

import pytest

from lockstep import KernelBuilder
from lockstep.workload import MemoryCopy, Workload


def built(opcode="FADD R1, R2, R3", grid=2, copy=64, **options):
    k = KernelBuilder("k", grid, 64, **options)
    k(opcode)
    k("LDG.E R4, [R2]", address=k.coalesced(1 << 40))
    return k.workload(MemoryCopy(1 << 32, copy))


def test_a_workload_made_again_has_the_same_digest():
    assert built().digest == built().digest
    assert len(built().digest) == 64


@pytest.mark.parametrize(
    "change",
    [
        {"opcode": "FADD R1, R2, R4"},
        {"opcode": "DADD R1, R2, R3"},
        {"grid": 3},
        {"grid": (1, 2)},
        {"copy": 65},
        {"registers": 33},
        {"cluster": 2},
        {"stream": 1},
        {"warp_size": 64},
    ],
)
def test_every_difference_changes_it(change):
    assert built(**change).digest != built().digest


@pytest.mark.parametrize("name", ["warps", "runs", "addresses", "pool"])
def test_every_stream_of_every_cta_is_covered(name):
    workload = built()
    (kernel,) = workload.kernels
    ctas = list(kernel.ctas())
    array = getattr(ctas[-1], name)
    setattr(ctas[-1], name, array[:-1] if len(array) else array.dtype.type([7]))
    changed = Workload(workload.name, [workload.commands[0], replace(kernel, ctas=lambda: ctas)])
    assert changed.digest != workload.digest


def test_it_is_made_once_when_first_asked_for():
    workload = built()
    kernel = workload.kernels[0]
    made, calls = kernel.ctas, []
    kernel.ctas = lambda: calls.append(1) or made()
    assert not calls
    assert workload.digest == workload.digest == built().digest
    assert calls == [1]


def test_a_front_end_may_set_a_quicker_one():
    workload = Workload("w", [])
    workload.digest = "0123"
    assert workload.digest == "0123"

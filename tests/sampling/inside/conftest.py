from types import SimpleNamespace

import pytest

from lockstep.builder import KernelBuilder
from small_gpu import small  # noqa: F401

A = 0x7F0000000000


@pytest.fixture(scope="session")
def steady():
    """Function that makes a kernel whose CTAs all do the same: loads and arithmetic."""

    def make(name="steady", grid=400, block=128, loops=4, stream=0):
        k = KernelBuilder(name, grid=grid, block=block, stream=stream)
        with k.loop(loops):
            k("LDG.E R4, [R2]", address=k.coalesced(A, step=4 * grid * block))
            for _ in range(40):
                k("FFMA R8, R6, R5, R8")
        k("STG.E [R2], R8", address=k.coalesced(A + (1 << 30)))
        k("EXIT")
        return k

    return make


@pytest.fixture(scope="session")
def counters():
    """Function that makes what a rule sees: instructions, CTAs that have ended, CTAs, a wave."""

    def make(instructions, done=0, *, ctas=100, wave=10, started=0, launched=0, begun=0, skipped=0):
        sm = {"warp_instructions": instructions}
        return SimpleNamespace(
            launched=launched, started=started, ctas=ctas, wave=wave, ctas_done=done,
            begun=begun, skipped=skipped, sm=sm, partition={},
        )  # fmt: skip

    return make

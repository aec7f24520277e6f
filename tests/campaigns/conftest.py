import pytest

from lockstep import api
from lockstep.builder import KernelBuilder, program


@pytest.fixture(scope="session")
def trace(tmp_path_factory):
    """A trace file of one small kernel."""
    k = KernelBuilder("tiny", grid=4, block=64)
    with k.loop(3):
        k("LDG.E R4, [R2]", address=k.coalesced(0x7F0000000000))
        k("FFMA R8, R4, R5, R8")
    k("EXIT")
    path = tmp_path_factory.mktemp("traces") / "tiny.lst"
    api.save(program(k, name="tiny"), path)
    return path

"""Barriers of a whole grid: cooperative_groups::this_grid().sync()."""

import struct

import numpy as np
import pytest

import lockstep
from lockstep.runtime import Simulator
from lockstep.runtime.status import Status

CTAS, THREADS = 8, 64
N = CTAS * THREADS


@pytest.fixture
def program(connect, repository):
    """Function: a client of a GPU with the kernel's handle and arrays for its parameters."""
    binary = (repository / "tests/runtime/binaries/grid_sync.fatbin").read_bytes()
    simulators = []

    def start(gpu="A100", **options):
        simulators.append(Simulator(lockstep.api.gpu(gpu, ("sm.count=2",)), **options))
        client = connect(simulator=simulators[-1])
        module = client.call("LOAD_MODULE", binary)["module"]
        kernel = client.call("FIND_KERNEL", b"reverse", module=module)["kernel"]
        a, b = (client.call("ALLOCATE", size=4 * N, kind=0)["address"] for _ in range(2))
        return client, kernel, (a, b)

    yield start
    for simulator in simulators:
        simulator.close()


def launch(client, kernel, arrays, cooperative=1, stream=0):
    shape = {"grid_x": CTAS, "grid_y": 1, "grid_z": 1}
    shape |= {"block_x": THREADS, "block_y": 1, "block_z": 1, "dynamic_shared": 0}
    parameters = struct.pack("<2Qi", *arrays, N)
    shape |= {"stream": stream, "cooperative": cooperative, "portable": 1}
    shape |= dict.fromkeys(("cluster_x", "cluster_y", "cluster_z"), 0)
    return client.call("LAUNCH", parameters, kernel=kernel, **shape)


@pytest.mark.parametrize(
    "gpu, ptx", [("RTX2060", False), ("A100", False), ("H100", False), ("A100", True)]
)
def test_the_barrier_holds_the_whole_grid(program, gpu, ptx):
    client, kernel, arrays = program(gpu, ptx=ptx)
    stream = client.call("CREATE_STREAM")["stream"]
    for number in (0, stream, stream, 0):
        client.write(arrays[0], np.zeros(N, np.int32))
        assert "status" not in launch(client, kernel, arrays, stream=number)
        assert np.array_equal(client.read(arrays[0], N, np.int32), np.arange(N) + N)
    assert client.simulator.kernels["reverse"].code.startswith("PTX" if ptx else "machine code")


def test_the_barrier_in_a_timed_launch(program):
    client, kernel, arrays = program(timed=True)
    launch(client, kernel, arrays)
    assert np.array_equal(client.read(arrays[0], N, np.int32), np.arange(N) + N)
    assert client.simulator.kernels["reverse"].cycles[0] > 1000


@pytest.mark.parametrize("ptx", [False, True])
def test_the_barrier_traps_in_an_ordinary_launch(program, ptx):
    client, kernel, arrays = program(ptx=ptx)
    launch(client, kernel, arrays, cooperative=0)
    assert client.call("SYNCHRONIZE", stream=0) == {"status": Status.LAUNCH_FAILURE}


def test_a_reset_frees_what_barriers_used(program):
    client, kernel, arrays = program()
    client.call("RESET")
    used = client.simulator.device.memory.used
    arrays = [client.call("ALLOCATE", size=4 * N, kind=0)["address"] for _ in range(2)]
    launch(client, kernel, arrays)
    client.call("RESET")
    assert client.simulator.device.memory.used == used

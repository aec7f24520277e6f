import numpy as np
import pytest
import zstandard

import lockstep
from lockstep.errors import InputError
from lockstep.frontend.cuda.record import FILE, RecordWriter
from lockstep.runtime import Simulator
from lockstep.runtime.replay import replay


@pytest.fixture
def recorded(tmp_path, new_client):
    simulator = Simulator(lockstep.api.gpu("QV100"))
    writer = RecordWriter(tmp_path / "rec")
    client = new_client(simulator, writer)
    x = client.call("ALLOCATE", size=400, kind=0)["address"]
    managed = client.call("ALLOCATE", size=400, kind=1)["address"]
    client.write(x, np.arange(100, dtype=np.float32))
    kernel, stream = client.kernel(), client.call("CREATE_STREAM")["stream"]
    client.launch(kernel, x, 100, 1.0, stream=stream)
    for value in (3, 4):  # written without a call
        client.simulator.device.memory.view(managed, 400).view(np.float32)[:] = value
        client.launch(kernel, managed, 100, 0.5)
    client.launch(kernel + 77, x, 100, 1.0)  # fails, and is no part of the record
    client.call("SYNCHRONIZE", stream=0)
    client.close()
    writer.close()
    simulator.close()
    return tmp_path / "rec", x, managed


def test_a_record_leads_to_the_same_memory(recorded, make_simulator, monkeypatch):
    folder, x, managed = recorded
    simulator = make_simulator(timed=True)
    seen = {}

    def look(*_):
        for address in (x, managed):
            seen[address] = simulator.device.memory.view(address, 400).view(np.float32).copy()

    monkeypatch.setattr("lockstep.runtime.memory.ProgramMemory.free_memory", look)
    assert replay(simulator, folder)
    assert np.array_equal(seen[x], np.arange(100) + 1)
    assert (seen[managed] == 4.5).all()
    (count,) = simulator.kernels.values()
    assert count.launches == len(count.cycles) == 3


def test_memory_without_calls_takes_no_copies(tmp_path, new_client, make_simulator):
    """So that it leaves nothing in the L2, and the kernels take the cycles of the run."""
    simulator, writer = Simulator(lockstep.api.gpu("QV100"), True), RecordWriter(tmp_path)
    client = new_client(simulator, writer)
    managed = client.call("ALLOCATE", size=400, kind=1)["address"]
    for value in (3, 4):
        simulator.device.memory.view(managed, 400).view(np.float32)[:] = value
        client.launch(client.kernel(), managed, 100, 0.5)
        client.call("SYNCHRONIZE", stream=0)
    client.close()
    writer.close()
    cycles = simulator.device.result.cycles
    simulator.close()
    again = make_simulator(timed=True, gpu="QV100")
    assert replay(again, tmp_path) and again.copies["to device"].count == 0
    assert again.device.result.cycles == cycles


def test_programs_one_after_the_other(tmp_path, new_client, make_simulator):
    """The second one gets the memory that the first one had."""
    simulator, writer = Simulator(lockstep.api.gpu("QV100")), RecordWriter(tmp_path)
    for number in range(2):
        client = new_client(simulator, writer, number)
        x = client.call("ALLOCATE", size=400, kind=0)["address"]
        client.write(x, np.zeros(100, np.float32))
        client.launch(client.kernel(), x, 100, 1.0)
        client.close()
    writer.close()
    simulator.close()
    again = make_simulator()
    assert replay(again, tmp_path) and again.launches == 2


def test_a_record_that_was_cut_off(recorded, make_simulator):
    file = recorded[0] / FILE
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"cut off|damaged"):
        replay(make_simulator(), recorded[0])


def test_a_record_of_zeros(recorded, make_simulator):
    """As a disk may lose it: no calls, and no checksum of them."""
    file = recorded[0] / FILE
    zeros = zstandard.ZstdCompressor().compress(bytes(24))
    file.write_bytes(file.read_bytes()[:16] + zeros)
    with pytest.raises(InputError, match="checksum does not fit"):
        replay(make_simulator(), recorded[0])


def test_no_record(make_simulator, tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        replay(make_simulator(), tmp_path)
    (tmp_path / FILE).write_bytes(b"something else entirely")
    with pytest.raises(InputError, match="no call record"):
        replay(make_simulator(), tmp_path)


def test_addresses_that_differ(recorded, make_simulator):
    simulator = make_simulator()
    simulator.device.memory.allocate(64)
    with pytest.raises(InputError, match="the record has memory at"):
        replay(simulator, recorded[0])
    with pytest.raises(InputError, match="record and replay with it, or both without"):
        replay(make_simulator(check="memory"), recorded[0])

import os
import struct

import numpy as np
import pytest

import lockstep
from lockstep.errors import LockstepError
from lockstep.execution.memory import textures
from lockstep.frontend.cuda.calls import Allocation
from lockstep.runtime import Simulator
from lockstep.runtime.status import Status
from lockstep.sampling.running import Online


def values(client, count=100):
    address = client.call("ALLOCATE", size=4 * count, kind=0)["address"]
    client.write(address, np.arange(count, dtype=np.float32))
    return address


def test_hello_describes_the_device(client):
    data, count = client.device["data"], client.device["attributes"]
    table = np.frombuffer(data, "<i4", count, 8)
    assert (table[75], table[76], table[16], table[10]) == (8, 0, 4, 32)
    assert data[8 + 4 * count :] == b"A100 (lockstep)\0"
    assert client.device["devices"] == 1
    assert int.from_bytes(data[:8], "little") == client.device["capacity"] == 80 << 30


def test_device_memory_comes_as_a_file(client):
    address = values(client)
    raw = os.pread(client.files[0], 8, address - client.device["base"] + 4)
    assert struct.unpack("<2f", raw) == (1.0, 2.0)


def test_another_version_is_refused(client):
    assert client.call("HELLO", pid=1, key=7) == {"status": Status.UNKNOWN}


def test_a_launch_computes(client):
    address, kernel = values(client), client.kernel()
    assert "status" not in client.launch(kernel, address, 100, 0.5)
    assert np.array_equal(client.read(address, 100, np.float32), np.arange(100) + 0.5)
    assert client.simulator.launches == 1


def test_a_kernel_has_its_parameters(client):
    text = b".version 7.0\n.target sm_70\n.address_size 64\n.entry k(.param .u8 a, .param .u64 b,"
    text += b" .param .align 16 .b8 c[20]) { ret; }\0"
    module = client.call("LOAD_MODULE", text)
    found = client.call("FIND_KERNEL", b"k", module=module["module"])
    assert struct.unpack("<6Q", found["data"]) == (0, 1, 8, 8, 16, 20)
    assert (found["parameters"], found["parameter_bytes"]) == (3, 36)


def test_more_memory_than_the_host_has_is_said_once(client, monkeypatch, capfd):
    monkeypatch.setattr("lockstep.runtime.memory.memory_bytes", lambda: 1 << 20)
    for size in (1 << 19, 1 << 20, 1 << 20):
        assert "status" not in client.call("ALLOCATE", size=size, kind=0)
    (line,) = capfd.readouterr().err.splitlines()
    assert "bytes of device memory are allocated and this host has 1048576" in line


def test_a_host_without_memory_for_it_is_a_refusal(client, monkeypatch, capfd):
    def fail(*_, **options):
        raise MemoryError("nothing left")

    monkeypatch.setattr(client.simulator.device.memory, "allocate", fail)
    assert client.call("ALLOCATE", size=8, kind=0)["status"] == Status.OUT_OF_MEMORY
    assert capfd.readouterr().err == "lockstep: not enough memory: nothing left\n"


def test_variables(client):
    module = client.module()
    found = client.call("FIND_VARIABLE", b"counter", module=module)
    assert found["size"] == 16
    assert client.read(found["address"], 4, np.uint32).tolist() == [5, 6, 7, 8]
    assert client.call("FIND_VARIABLE", b"none", module=module)["status"] == Status.INVALID_SYMBOL


def test_variables_that_are_managed_memory(client):
    module = client.module()
    place = client.call("FIND_VARIABLE", b"counter", module=module)["address"]
    assert client.call("POINTER", address=place)["kind"] == Allocation.DEVICE
    client.call("FIND_VARIABLE", b"counter", module=module, managed=1)
    found = client.call("POINTER", address=place + 15)
    assert (found["start"], found["size"], found["kind"]) == (place, 16, Allocation.MANAGED)
    assert (place, 16) in client.connection.context.owned.unannounced(), "call records have it"
    client.call("UNLOAD_MODULE", module=module)
    assert not client.connection.context.owned.unannounced()


def test_a_fault_is_sticky_until_a_reset(client, capfd):
    address, kernel = values(client), client.kernel()
    assert "status" not in client.launch(kernel, address, 1 << 20, 0.5, grid_x=9000)
    for _ in range(2):
        assert client.call("SYNCHRONIZE", stream=0) == {"status": Status.ILLEGAL_ADDRESS}
    assert client.call("ALLOCATE", size=4, kind=0) == {"status": Status.ILLEGAL_ADDRESS}
    assert capfd.readouterr().err.count("invalid global read of 4 bytes") == 1
    assert client.kernel(), "programs look for a kernel once, and may launch it after a reset"
    assert "status" not in client.call("RESET")
    assert "status" not in client.call("ALLOCATE", size=4, kind=0)


def test_one_program_does_not_break_another(connect):
    first = connect()
    second = connect(simulator=first.simulator, number=1)
    first.launch(first.kernel(), 64, 5, 0.5)
    assert first.call("SYNCHRONIZE", stream=0)["status"] == Status.ILLEGAL_ADDRESS
    assert "status" not in second.call("SYNCHRONIZE", stream=0)


@pytest.mark.parametrize(
    "shape, status",
    [
        ({"block_x": 0}, Status.INVALID_CONFIGURATION),
        ({"grid_x": 0}, Status.INVALID_CONFIGURATION),
        ({"block_x": 2048}, Status.INVALID_CONFIGURATION),
        ({"dynamic_shared": 1 << 30}, Status.INVALID_CONFIGURATION),
        ({"grid_x": 4 * 16 + 1, "cooperative": 1}, Status.COOPERATIVE_TOO_LARGE),
        ({"stream": 0x7777777}, Status.INVALID_HANDLE),
    ],
)
def test_bad_launches_leave_the_device_as_it_is(client, shape, status):
    address, kernel = values(client), client.kernel()
    assert client.launch(kernel, address, 100, 1.0, **shape) == {"status": status}
    assert "status" not in client.call("SYNCHRONIZE", stream=0)
    assert client.simulator.launches == 0


def test_a_cooperative_launch_that_fits(client):
    address, kernel = values(client), client.kernel()
    assert "status" not in client.launch(kernel, address, 100, 1.0, grid_x=4 * 16, cooperative=1)


def test_handles_that_nobody_gave(client):
    for call, fields in (
        ("FIND_KERNEL", {"module": 5}),
        ("DESTROY_STREAM", {"stream": 5}),
        ("RECORD_EVENT", {"event": 5, "stream": 0}),
        ("DESTROY_TEXTURE", {"texture": 5}),
        ("UNLOAD_MODULE", {"module": 5}),
    ):
        assert client.call(call, **fields) == {"status": Status.INVALID_HANDLE}


def test_memory_is_checked(client):
    address = values(client, 64)
    for width, rows, pitch in ((257, 1, 257), (8, 33, 8), (8, 2, 4), (1 << 63, 1, 0), (4, 0, 4)):
        reply = client.call("READ", address=address, pitch=pitch, width=width, rows=rows)
        assert reply == {"status": Status.INVALID_VALUE}
    assert client.call("FREE", address=address + 4) == {"status": Status.INVALID_VALUE}
    assert client.call("FREE", address=address).get("status") is None
    assert client.call("FREE", address=address) == {"status": Status.INVALID_VALUE}
    assert client.call("ALLOCATE", size=1 << 60, kind=0) == {"status": Status.OUT_OF_MEMORY}


def test_pointers_and_free_memory(client):
    before = client.call("MEMORY")["free"]
    address = client.call("ALLOCATE", size=1000, kind=1)["address"]
    found = client.call("POINTER", address=address + 999)
    assert (found["start"], found["size"], found["kind"]) == (address, 1000, 1)
    assert before - client.call("MEMORY")["free"] == 1000


def test_copies_of_rectangles(client):
    image = np.arange(60, dtype=np.uint8).reshape(6, 10)
    source = client.call("ALLOCATE", size=60, kind=0)["address"]
    to = client.call("ALLOCATE", size=200, kind=0)["address"]
    client.write(source, image)
    client.write(to, np.zeros(200, np.uint8))
    region = {"source": source + 12, "source_pitch": 10, "width": 5, "rows": 3}
    client.call("COPY", to=to + 1, to_pitch=20, **region)
    expected = np.zeros((10, 20), np.uint8)
    expected[:3, 1:6] = image[1:4, 2:7]
    assert np.array_equal(client.read(to, 200, np.uint8).reshape(10, 20), expected)


@pytest.mark.parametrize("unit, value", [(1, 0xAB), (2, 0x1234), (4, 0xDEADBEEF)])
def test_fills(client, unit, value):
    address = client.call("ALLOCATE", size=128, kind=0)["address"]
    client.write(address, np.zeros(128, np.uint8))
    client.call("FILL", address=address, pitch=32, width=8, rows=3, value=value, unit=unit)
    got = client.read(address, 128, np.uint8).reshape(4, 32)
    assert (got[:3, :8].copy().view(f"<u{unit}") == value).all()
    assert not got[3].any() and not got[:, 8:].any()


def test_a_texture_reads_the_memory_it_lies_over(client):
    address = client.call("ALLOCATE", size=4096, kind=0)["address"]
    names = "pitch width height depth layered channels bits kind filter address_x address_y"
    names += " address_z normalized normalized_values cube level_filter level_bias level_least"
    names += " level_most border_0 border_1 border_2 border_3"
    fields = dict.fromkeys(names.split(), 0)
    fields |= {
        "levels": 1,
        "address": address,
        "width": 10,
        "pitch": 64,
        "height": 4,
        "channels": 1,
    }
    made = client.call("CREATE_TEXTURE", **{**fields, "bits": 32, "kind": 2})
    assert "status" not in client.call("DESTROY_TEXTURE", texture=made["texture"])
    assert "status" in client.call("CREATE_TEXTURE", **{**fields, "bits": 64, "kind": 2})


def test_levels_of_detail_follow_each_other(client):
    address = client.call("ALLOCATE", size=4096, kind=0)["address"]
    names = (
        "pitch width height depth layered cube levels channels bits kind filter address_x "
        "address_y address_z normalized normalized_values level_filter level_bias level_least "
        "level_most border_0 border_1 border_2 border_3"
    )
    fields = dict.fromkeys(names.split(), 0)
    fields |= {"address": address, "width": 10, "height": 5, "pitch": 40, "channels": 1}
    fields |= {"bits": 32, "kind": 2, "levels": 3, "level_filter": 1, "level_bias": 0xBF000000}
    handle = client.call("CREATE_TEXTURE", **fields)["texture"]
    memory = client.simulator.device.memory
    place = textures.address_of(memory, handle)
    records = [
        memory.view(place + k * textures.HEADER_BYTES, textures.TEXTURE.itemsize)
        .view(textures.TEXTURE)[0]
        .copy()
        for k in range(3)
    ]
    assert [(r["width"], r["height"]) for r in records] == [(10, 5), (5, 2), (2, 1)]
    assert [r["data"] - address for r in records] == [0, 256, 512]
    assert [r["row_bytes"] for r in records] == [40, 20, 8]
    assert {(r["levels"], r["level_linear"], r["level_bias"]) for r in records} == {(3, 1, -0.5)}
    assert "status" not in client.call("DESTROY_TEXTURE", texture=handle)


def test_what_a_program_leaves_is_freed(connect):
    client = connect()
    used = client.simulator.device.memory.used
    values(client), values(client)
    assert client.simulator.device.memory.used > used
    client.connection.close()
    assert client.simulator.device.memory.used == used


@pytest.mark.parametrize("every, timed", [(1, 7), (3, 3), (0, 0)])
def test_one_in_so_many_launches_is_timed(connect, make_simulator, every, timed):
    choose = Online(every=every) if every else None
    client = connect(simulator=make_simulator(every > 0, choose=choose))
    address, kernel = values(client), client.kernel()
    start, end = (client.call("CREATE_EVENT")["event"] for _ in range(2))
    client.call("RECORD_EVENT", event=start, stream=0)
    for _ in range(7):
        client.launch(kernel, address, 100, 1.0)
    client.call("RECORD_EVENT", event=end, stream=0)
    elapsed = client.call("ELAPSED", start=start, end=end)["nanoseconds"]
    (count,) = client.simulator.kernels.values()
    assert (count.launches, len(count.cycles)) == (7, timed)
    assert np.array_equal(client.read(address, 100, np.float32), np.arange(100) + 7)
    nanoseconds = 7 * np.mean(count.cycles) / 1.41 if timed else 0
    assert elapsed == pytest.approx(nanoseconds, rel=0.2)


def test_an_event_that_was_not_recorded(client):
    start, end = (client.call("CREATE_EVENT")["event"] for _ in range(2))
    assert client.call("ELAPSED", start=start, end=end) == {"status": Status.INVALID_HANDLE}


def test_a_limit_ends_a_kernel(connect, make_simulator):
    client = connect(simulator=make_simulator(limit_instructions=100_000))
    client.launch(client.kernel("forever"), 0, 0, 0.0)
    assert client.call("SYNCHRONIZE", stream=0) == {"status": Status.LAUNCH_TIMEOUT}


def test_functions_that_are_not_supported_are_counted(client):
    client.send("UNSUPPORTED", b"cudaMagic")
    client.send("UNSUPPORTED", b"cudaMagic")
    assert client.simulator.unsupported == {"cudaMagic": 2}


def test_a_gpu_of_compute_units_runs_no_cuda_programs():
    with pytest.raises(
        LockstepError, match=r"HD7770 .*\(lockstep opencl\), and no CUDA program: an"
    ):
        Simulator(lockstep.gpu("HD7770"))

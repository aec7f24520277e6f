"""Checks of what CUDA programs do on the host: copies, fills, frees, and what they write."""

import numpy as np
import pytest


@pytest.fixture
def checked(connect, make_simulator):
    """Function from checks to a client, and what was found of it."""

    def checked(names):
        simulator = make_simulator(check=names)
        return connect(simulator=simulator), simulator.device.findings

    return checked


def allocate(client, size, kind=0):
    return client.call("ALLOCATE", size=size, kind=kind)["address"]


def region(address, size):
    return {"address": address, "pitch": size, "width": size, "rows": 1}


def test_copies_and_fills_past_the_end_name_the_distance(checked):
    client, findings = checked("memory")
    address = allocate(client, 256)
    for call in ("READ", "WRITE"):
        assert client.call(call, **region(address, 260))["status"]
    assert client.call("FILL", **region(address + 256, 4), unit=1, value=0)["status"]
    assert [f.kind for f in findings] == ["invalid_copy"] * 2  # the same bytes are one finding
    texts = [str(f) for f in findings]
    whole = f"allocation of 256 bytes at {address:#x}"
    assert f"copy or fill of 260 bytes at {address:#x}, of which 4 bytes are behind" in texts[0]
    assert f"0 bytes behind the end of the nearest {whole}" in texts[1]


def test_wrong_frees_say_why(checked):
    client, findings = checked("memory")
    address = allocate(client, 256)
    client.call("FREE", address=address + 8)
    client.call("FREE", address=address)
    client.call("FREE", address=address)
    client.call("FREE", address=address + (1 << 20))
    assert [str(f).rpartition(", ")[2] for f in findings] == [
        "8 bytes behind the start of an allocation",
        "which has been freed already",
        "which was never allocated",
    ]


def test_what_a_program_did_not_free_is_information(checked):
    client, findings = checked("memory")
    sizes = [allocate(client, size) for size in (256, 1000)]
    client.call("FREE", address=sizes[0])
    client.call("RESET")
    assert len(findings) == 0 and findings.leaks == [(sizes[1], 1000)]
    assert "1 allocations of 1000 bytes together were never freed" in findings.information()[0]


@pytest.mark.parametrize(
    ("how", "count"),
    [("nothing", 100), ("write", 0), ("fill", 50), ("copy", 60), ("managed", 0), ("rows", 90)],
)
def test_what_the_host_writes_may_be_read(checked, how, count):
    client, findings = checked("init")
    address = allocate(client, 400, kind=int(how == "managed"))
    if how == "write":
        client.write(address, np.zeros(100, np.float32))
    elif how == "fill":
        client.call("FILL", **region(address, 200), unit=4, value=0)
    elif how == "rows":
        rows = {"address": address, "pitch": 80, "width": 8, "rows": 5}
        client.call("FILL", **rows, unit=4, value=0)
    elif how == "copy":
        source = allocate(client, 400)
        client.write(source, np.zeros(40, np.float32))
        both = {"source": source, "source_pitch": 400, "to": address, "to_pitch": 400}
        client.call("COPY", **both, width=400, rows=1)
    client.launch(client.kernel(), address, 100, 1.0)
    client.call("SYNCHRONIZE", stream=0)
    assert sum(f.count for f in findings) == count

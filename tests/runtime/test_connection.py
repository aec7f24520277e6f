import numpy as np
import pytest

import saying
from lockstep.frontend.cuda.calls import FORMS, HEADER, PRINTED, Call, encode
from lockstep.runtime.status import Status


def test_messages_may_come_in_any_pieces(client):
    raw = encode(Call.ALLOCATE, (64, 0)) * 3
    for piece in (raw[:5], raw[5:40], raw[40:]):
        client.link.sendall(piece)
        assert client.connection.receive()
    addresses = {client.answer()[2] for _ in range(3)}
    assert len(addresses) == 3


@pytest.mark.parametrize(
    "raw", [b"\xff" * HEADER.size, HEADER.pack(6, 0, 1 << 60), encode(Call.ALLOCATE, (64,))]
)
def test_damage_ends_the_connection(client, raw, capfd):
    client.link.sendall(raw)
    assert not client.connection.receive()
    assert "the connection of a program ended" in capfd.readouterr().err


def test_a_program_that_goes_away_within_a_message(client, capfd):
    client.link.sendall(HEADER.pack(Call.LOAD_MODULE, 0, 1000) + b"part")
    client.link.close()
    assert client.connection.receive()
    assert not client.connection.receive()
    assert "the program went away within a message" in capfd.readouterr().err


def test_a_message_that_does_not_go_on_keeps_nobody_waiting(connect, make_simulator):
    simulator = make_simulator()
    slow, other = connect(simulator=simulator), connect(simulator=simulator)
    slow.link.sendall(HEADER.pack(Call.LOAD_MODULE, 0, (1 << 31) - 1) + b"part")
    assert slow.connection.receive()  # returns, and has taken no memory for what is to come
    assert len(slow.connection.waiting) == HEADER.size + 4
    assert "status" not in other.call("ALLOCATE", size=64, kind=0)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("ALLOCATE", {"kind": 7}),
        ("FILL", {"rows": 1 << 60}),
        ("FILL", {"width": 0}),
        ("FILL", {"unit": 3}),
        ("WRITE", {"rows": 1 << 60, "pitch": 0}),
        ("OCCUPANCY", {"threads": 0}),
        ("CLUSTERS", {"ctas": 0}),
        ("CREATE_TEXTURE", {"levels": 1 << 60}),
        ("CREATE_TEXTURE", {"level_bias": 1 << 40}),
        ("CREATE_TEXTURE", {"width": 1 << 20}),
        ("CREATE_TEXTURE", {"kind": 2, "bits": 8}),
        ("CREATE_TEXTURE", {"address": 1 << 63}),
        ("ENCODE_TENSOR_MAP", {}),
        ("MOVE_TENSOR_MAP", {}),
        ("SET_LIMIT", {"limit": 99}),
    ],
)
def test_numbers_that_no_call_has_are_refused(client, capfd, name, fields):
    address, kernel = client.call("ALLOCATE", size=64, kind=0)["address"], client.kernel()
    usual = {"address": address, "pitch": 8, "width": 8, "rows": 1, "unit": 1, "kernel": kernel}
    usual |= {"size": 64, "channels": 1, "bits": 32, "kind": 0, "levels": 1, "threads": 32}
    every = {field: usual.get(field, 0) for field in FORMS[Call[name]].request}
    assert client.call(name, b"noise", **every | fields)["status"] == Status.INVALID_VALUE
    assert "status" not in client.call("SYNCHRONIZE", stream=0)  # it goes on


def test_names_from_programs_are_one_short_line(client, capfd):
    client.call("FIND_KERNEL", b"k\x1b[2J\n" + b"x" * 5000, module=client.module())
    (line,) = capfd.readouterr().err.splitlines()
    assert line.isprintable() and len(line) < 1100
    client.send("UNSUPPORTED", b"\n\0" + b"y" * 5000)
    (name,) = client.simulator.unsupported
    assert name.startswith("??yy") and len(name) == 100


def test_a_program_that_goes_away(client):
    client.link.close()
    assert not client.connection.receive()


def test_large_messages(client, capfd):
    reply = client.call("LOAD_MODULE", b"// " + b"x" * 3_000_000 + b"\n.version 7.0\n"
                        b".target sm_70\n.address_size 64\n")  # fmt: skip
    assert "status" not in reply


def test_noise_as_an_image(client, capfd):
    rng = np.random.default_rng(1)
    for head in (b"", b"\x7fELF", b"\x50\xed\x55\xba"):
        for size in (4, 100, 5000):
            reply = client.call("LOAD_MODULE", head + rng.bytes(size))
            assert reply["status"] in (200, 209)


@pytest.fixture
def say(client):
    """Function that launches a kernel that prints a line."""
    module = client.call("LOAD_MODULE", saying.say().encode())["module"]
    kernel = client.call("FIND_KERNEL", b"say", module=module)["kernel"]
    shape = {"block_x": 1, "cluster_x": 0, "cluster_y": 0, "cluster_z": 0}
    return lambda: client.launch(kernel, 0, 0, 0, **shape)


def test_what_kernels_print_comes_when_the_program_waits(client, say, capfd):
    assert "status" not in say()
    assert "status" not in client.call("CREATE_EVENT"), "no text yet"
    client.send("SYNCHRONIZE")
    assert HEADER.unpack(client.link.recv(HEADER.size)) == (PRINTED, 0, 3)
    assert client.link.recv(3) == b"Hi\n"
    assert client.answer()[:2] == (Call.SYNCHRONIZE, 0)
    assert capfd.readouterr().out == ""


def test_what_kernels_print_before_the_next_launch(client, say):
    say()
    shape = dict.fromkeys(FORMS[Call.LAUNCH].request, 0)
    client.send("LAUNCH", **shape)  # it is refused
    assert HEADER.unpack(client.link.recv(HEADER.size))[0] == PRINTED


def test_what_the_program_did_not_wait_for(client, say, capfd):
    say()
    client.connection.close()
    assert capfd.readouterr().out == "Hi\n"

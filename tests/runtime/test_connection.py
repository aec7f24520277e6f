import numpy as np
import pytest

from lockstep.frontend.cuda.calls import HEADER, Call, encode


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


def test_a_program_that_goes_away_within_a_message(client):
    client.link.sendall(HEADER.pack(Call.LOAD_MODULE, 0, 1000) + b"part")
    client.link.close()
    assert not client.connection.receive()


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

"""A memory behind a socket answers as one in this process does; damaged frames are refused."""

import contextlib
import os
import socket
import threading

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import lockstep
from fixed_memory import FixedMemory
from lockstep.cli.simulate import command
from lockstep.errors import LockstepError
from lockstep.outside import ANSWER, REQUEST, Interface
from lockstep.outside.sockets import (
    FRAME,
    HELLO,
    MAGIC,
    OVER,
    VERSION,
    WELCOME,
    SocketMemory,
    connected,
)

INTERFACE = Interface("MINE é", 4, 2, 128, 32, 60, 64, 1.5e9)


def receive(stream, dtype, count=1):
    content = b""
    while len(content) < count * dtype.itemsize:
        got = stream.recv(count * dtype.itemsize - len(content))
        assert got, "the other side has gone"
        content += got
    return np.frombuffer(content, dtype)


def serve(stream, memory):
    """Be the other side of a socket, for a memory of this process."""
    hello = receive(stream, HELLO)[0]
    assert (hello["magic"], hello["version"]) == (MAGIC, VERSION)
    name = receive(stream, np.dtype("u1"), int(hello["name"])).tobytes().decode()
    told = [hello[field].item() for field in HELLO.names[2:-1]]
    memory.begin(Interface(name, *told))
    stream.sendall(np.array([(MAGIC, VERSION)], WELCOME).tobytes())
    while True:
        end, count = receive(stream, FRAME)[0].tolist()
        if count == OVER:
            memory.close()
            return
        answers = memory.exchange(end, receive(stream, REQUEST, count))
        stream.sendall(np.array([(end, len(answers))], FRAME).tobytes() + answers.tobytes())


@contextlib.contextmanager
def serving(memory):
    """A socket to a memory that a thread serves."""
    here, there = socket.socketpair()
    thread = threading.Thread(target=serve, args=(there, memory))
    thread.start()
    yield here
    thread.join(60)
    assert not thread.is_alive()
    there.close()


@pytest.fixture(scope="module")
def vecadd(repository):
    return lockstep.load(repository / "examples" / "vecadd")


def test_a_socket_changes_nothing(vecadd):
    near = FixedMemory(120)
    expected = lockstep.simulate(vecadd, "QV100", outside=near)
    far = FixedMemory(120)
    with serving(far) as stream:
        result = lockstep.simulate(vecadd, "QV100", outside=SocketMemory(stream))
    assert result.hash == expected.hash and not result.stopped
    assert far.requests == near.requests and far.interface == near.interface and far.closed == 1


def test_a_gpu_is_told_with_all_its_numbers_and_its_name():
    memory = FixedMemory(1)
    with serving(memory) as stream:
        far = SocketMemory(stream)
        far.begin(INTERFACE)
        far.close()
    assert memory.interface == INTERFACE


def test_places_are_unix_sockets_tcp_ports_and_open_files(tmp_path):
    path = str(tmp_path / "s")
    for family, address in ((socket.AF_UNIX, path), (socket.AF_INET, ("127.0.0.1", 0))):
        with socket.socket(family) as listener:
            listener.bind(address)
            listener.listen()
            at = listener.getsockname()
            place = f"unix:{at}" if family == socket.AF_UNIX else f"tcp:{at[0]}:{at[1]}"
            with connected(place) as stream:
                other, _ = listener.accept()
                stream.sendall(b"x")
                assert other.recv(1) == b"x"
                other.close()
    one, two = socket.socketpair()
    with connected(f"fd:{one.detach()}") as stream:
        stream.sendall(b"y")
        assert two.recv(1) == b"y"
    two.close()


@pytest.mark.parametrize("place", ["", "x", "fd:", "fd:-1", "fd:x", "unix:", "tcp:7", "tcp:h:x"])
def test_other_places_are_refused(place):
    with pytest.raises(LockstepError, match="expected unix:PATH, tcp:HOST:PORT or fd:NUMBER"):
        connected(place)


@pytest.mark.parametrize("place", ["fd:99999", "unix:/nowhere/at/all", "tcp:127.0.0.1:1"])
def test_a_place_where_nobody_is_is_named(place):
    with pytest.raises(LockstepError, match=f"outside memory at {place}: "):
        connected(place)


def answered(content):
    """A memory whose other side has sent this, and then closed."""
    here, there = socket.socketpair()
    there.sendall(content)
    there.shutdown(socket.SHUT_WR)
    return SocketMemory(here), there


WELCOMED = np.array([(MAGIC, VERSION)], WELCOME).tobytes()


@pytest.mark.parametrize(
    "content, text",
    [
        (b"", "has closed the connection"),
        (WELCOMED[:5], "has closed the connection"),
        (b"HTTP/1.1", "does not speak this protocol"),
        (
            np.array([(MAGIC, 7)], WELCOME).tobytes(),
            f"version 7 of the protocol, lockstep {VERSION}",
        ),
    ],
)
def test_who_speaks_otherwise_is_refused_at_the_start(content, text):
    memory, there = answered(content)
    with pytest.raises(LockstepError, match=text):
        memory.begin(INTERFACE)
    memory.close()
    there.close()


@pytest.mark.parametrize(
    "frame, text",
    [
        ((59, 0), "a frame of 0 answers at cycle 59; expected those before cycle 60"),
        ((60, -2), "a frame of -2 answers"),
        ((60, 65), "a frame of 65 answers"),
        ((60, 1 << 60), "a frame of 1152921504606846976 answers"),
        ((60, 3), "has closed the connection"),
    ],
)
def test_a_wrong_frame_is_refused(frame, text):
    memory, there = answered(WELCOMED + np.array([frame], FRAME).tobytes() + bytes(16))
    memory.begin(INTERFACE)
    with pytest.raises(LockstepError, match=text):
        memory.exchange(60, np.zeros(0, REQUEST))
    memory.close()
    there.close()


@settings(max_examples=60)
@given(st.binary(max_size=200))
def test_any_bytes_are_answers_or_refused(content):
    memory, there = answered(WELCOMED + content)
    memory.begin(INTERFACE)
    try:
        answers = memory.exchange(60, np.zeros(0, REQUEST))
    except LockstepError as error:
        assert str(error).startswith("outside memory: ")
    else:
        assert answers.dtype == ANSWER and len(answers) <= INTERFACE.in_flight
    memory.close()
    there.close()


def test_the_command_reaches_a_memory(repository):
    memory, trace = FixedMemory(120), str(repository / "examples" / "vecadd")
    expected = lockstep.simulate(trace, "QV100", outside=FixedMemory(120)).cycles
    with serving(memory) as stream:
        place = f"fd:{os.dup(stream.fileno())}"
        stream.close()
        done = CliRunner().invoke(command, [trace, "--gpu", "QV100", "--outside", place, "-q"])
    assert done.exit_code == 0 and memory.closed == 1
    assert 0 <= memory.ends[-1] - expected <= memory.interface.latency

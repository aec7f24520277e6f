"""A memory in another process, behind a stream socket.

All numbers are little-endian. Lockstep begins with a HELLO and the GPU's name, of ``name`` bytes;
the memory answers with a WELCOME. Then in turn: a FRAME and ``count`` REQUEST records from here, a
FRAME and ``count`` ANSWER records from there. ``cycle`` is the end of the window in both. A FRAME
with ``count`` = OVER ends the run, without an answer.
"""

import contextlib
import socket

import numpy as np

from lockstep.errors import LockstepError
from lockstep.outside.protocol import ANSWER, REQUEST, Interface

MAGIC = 0x4B43_4F4C  # "LOCK"
VERSION = 1
OVER = -1
HELLO = np.dtype(
    [
        ("magic", "<u4"),
        ("version", "<u4"),
        ("sms", "<i4"),
        ("partitions", "<i4"),
        ("line_bytes", "<i4"),
        ("sector_bytes", "<i4"),
        ("latency", "<i8"),
        ("in_flight", "<i8"),
        ("clock_hz", "<f8"),
        ("name", "<i8"),
    ]
)
WELCOME = np.dtype([("magic", "<u4"), ("version", "<u4")])
FRAME = np.dtype([("cycle", "<i8"), ("count", "<i8")])
_WIRE_REQUEST, _WIRE_ANSWER = REQUEST.newbyteorder("<"), ANSWER.newbyteorder("<")
PLACES = "unix:PATH, tcp:HOST:PORT or fd:NUMBER"


def connected(place: str) -> socket.socket:
    """The socket at a place: ``unix:PATH``, ``tcp:HOST:PORT``, or ``fd:NUMBER``, an open one.

    Raises :class:`LockstepError` for other texts, and where nobody listens.
    """
    kind, _, rest = place.partition(":")
    host, _, port = rest.rpartition(":")
    try:
        if kind == "fd" and rest.isdecimal():
            return socket.socket(fileno=int(rest))
        if kind == "unix" and rest:
            return _connect(socket.AF_UNIX, rest)
        if kind == "tcp" and host and port.isdecimal():
            return socket.create_connection((host, int(port)))
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise LockstepError(f"outside memory at {place}: {why}") from None
    raise LockstepError(f"outside memory at {place!r}: expected {PLACES}")


def _connect(family: int, address: str) -> socket.socket:
    made = socket.socket(family)
    try:
        made.connect(address)
    except OSError:
        made.close()
        raise
    return made


class SocketMemory:
    """The memory on the other side of a socket; see :class:`.OutsideMemory`."""

    def __init__(self, stream: socket.socket):
        """``stream``: connected; it is closed with this memory."""
        self._socket = stream
        if stream.family != getattr(socket, "AF_UNIX", None):
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def begin(self, interface: Interface) -> None:
        """See :class:`.OutsideMemory`. Raises :class:`LockstepError` for another version."""
        name, self._most = interface.gpu.encode(), interface.in_flight
        hello = np.zeros(1, HELLO)
        hello[0] = (
            MAGIC, VERSION, interface.sms, interface.partitions, interface.line_bytes,
            interface.sector_bytes, interface.latency, interface.in_flight, interface.clock_hz,
            len(name),
        )  # fmt: skip
        self._send(hello.tobytes() + name)
        magic, version = self._receive(WELCOME, 1)[0].tolist()
        if magic != MAGIC:
            raise LockstepError("outside memory: the other side does not speak this protocol")
        if version != VERSION:
            raise LockstepError(
                f"outside memory: the other side speaks version {version} of the protocol, "
                f"lockstep {VERSION}"
            )

    def exchange(self, end: int, requests: np.ndarray) -> np.ndarray:
        """See :class:`.OutsideMemory`."""
        frame = np.array([(end, len(requests))], FRAME)
        self._send(frame.tobytes() + requests.astype(_WIRE_REQUEST, copy=False).tobytes())
        cycle, count = self._receive(FRAME, 1)[0].tolist()
        if cycle != end or not 0 <= count <= self._most:
            raise LockstepError(
                f"outside memory: a frame of {count} answers at cycle {cycle}; expected those "
                f"before cycle {end}"
            )
        return self._receive(_WIRE_ANSWER, count).astype(ANSWER, copy=False)

    def close(self) -> None:
        """See :class:`.OutsideMemory`."""
        with contextlib.suppress(OSError):  # it may have gone before
            self._socket.sendall(np.array([(0, OVER)], FRAME).tobytes())
        self._socket.close()

    def _send(self, content: bytes) -> None:
        try:
            self._socket.sendall(content)
        except OSError as error:
            raise _lost(error) from None

    def _receive(self, dtype: np.dtype, count: int) -> np.ndarray:
        """So many records."""
        content = bytearray(count * dtype.itemsize)
        view = memoryview(content)
        while view:
            try:
                got = self._socket.recv_into(view)
            except OSError as error:
                raise _lost(error) from None
            if not got:
                raise LockstepError("outside memory: the other side has closed the connection")
            view = view[got:]
        return np.frombuffer(content, dtype)


def _lost(error: OSError) -> LockstepError:
    return LockstepError(f"outside memory: {error.strerror or error}")

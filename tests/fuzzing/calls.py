"""Targets: messages of programs on the socket, and records of their calls."""

import random
import socket
import struct
import threading
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import zstandard

from fuzzing import mutations
from fuzzing.target import Target
from lockstep import api
from lockstep.errors import LockstepError
from lockstep.frontend.cuda.calls import FORMS, HEADER, Call, encode, encode_body, key
from lockstep.frontend.cuda.record import FILE, MAGIC, RecordWriter
from lockstep.runtime import Simulator
from lockstep.runtime.connection import Connection
from lockstep.runtime.replay import replay

MEMORY = 1 << 22  # bytes of the device
INSTRUCTIONS = 2000  # of a launch
BASE = 0x7000_0000_0000  # where the first allocation is
FIRST = 0x1001  # the first handle
ANSWERS = 1 << 22  # bytes that the other side takes

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 counter[4] = {5, 6, 7, 8};
.visible .entry add(.param .u64 x, .param .u32 n)
{
    .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    ld.param.u32 %r4, [n];
    setp.ge.u32 %p, %r1, %r4;
    @%p bra DONE;
    ld.param.u64 %rd1, [x];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    ld.global.u32 %r2, [%rd1];
    add.u32 %r2, %r2, %r4;
    st.global.u32 [%rd1], %r2;
DONE:
    ret;
}
"""


class Quiet(Simulator):
    """Keeps what it would say, which must be one clear line each time."""

    def __init__(self):
        gpu = api.gpu("A100", ("sm.count=4",))
        super().__init__(gpu, memory_bytes=MEMORY, limit_instructions=INSTRUCTIONS)

    def report(self, problem: object) -> None:
        """Note a problem."""
        text = str(problem)
        if text not in self.problems:
            self.problems.append(text)

    def state(self) -> str:
        """What was done, to be compared."""
        launches = {name: count.launches for name, count in self.kernels.items()}
        copies = {name: (t.count, t.bytes) for name, t in self.copies.items()}
        return repr((launches, copies, dict(self.unsupported), self.problems))


class Socket(Target):
    """Messages of a program in one piece; another program's go on meanwhile and behind."""

    name = "socket"
    mebibytes = 512

    def seeds(self) -> Sequence[bytes]:
        """What a program sends: memory alone, and with code and launches."""
        return _memory(), _code(), _rest()

    def read(self, data: bytes) -> object:
        """The answers, and what was done."""
        simulator = Quiet()
        try:
            answers = _serve(simulator, data)
            if _serve(simulator, _good()).count(struct.pack("<Ii", Call.ALLOCATE, 0)) != 1:
                raise AssertionError("another program is not served any more")
            if said := [line for line in simulator.problems if "connection of a program" in line]:
                raise LockstepError(said[0])
            return answers, simulator.state()
        finally:
            simulator.close()


class Record(Target):
    """Files of records: damage is refused."""

    name = "record"

    def seeds(self) -> Sequence[bytes]:
        """One record."""
        return (_record(),)

    def read(self, data: bytes) -> object:
        """What replaying it does."""
        self.file(data, FILE)
        simulator = Quiet()
        try:
            replay(simulator, self.folder)
            return simulator.state()
        finally:
            simulator.close()

    def prepare(self, folder: Path) -> None:
        """What may be read."""
        super().prepare(folder)
        self._whole = self.read(self.seeds()[0])

    def check(self, data: bytes, seed: bytes, value: object) -> str:
        """No damage is accepted."""
        return "" if value == self._whole else "a damaged record is accepted"


class ResealedRecord(Record):
    """The calls in a record change, and the checksum fits."""

    name = "record-resealed"
    mebibytes = 512

    def mutated(self, chance: random.Random, data: bytes, other: bytes) -> bytes:
        """Changed entries in a whole file."""
        head, entries = (
            data[:16],
            zstandard.ZstdDecompressor().decompressobj().decompress(data[16:]),
        )
        changed = mutations.mutate(chance, entries[:-24], entries[:-24], self.mutations)
        end = struct.pack("<IIQQ", 0, 0, zlib.crc32(changed, zlib.crc32(head)), 0)
        return head + zstandard.ZstdCompressor(1).compress(changed + end)

    def check(self, data: bytes, seed: bytes, value: object) -> str:
        """Other calls are other calls."""
        return ""


def _serve(simulator: Simulator, data: bytes) -> bytes:
    """What the simulator answers to a program that sends this and leaves."""
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, ANSWERS)
    connection, answers = Connection(0, theirs, simulator, None), bytearray()

    def listen() -> None:
        while piece := ours.recv(1 << 16):
            answers.extend(piece)

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        ours.sendall(data)
        ours.shutdown(socket.SHUT_WR)
        while connection.receive():
            pass
        connection.finish()
    finally:
        connection.close()
        listener.join()
        ours.close()
    return bytes(answers)


def _call(name: str, data: bytes = b"", **fields: int) -> bytes:
    call = Call[name]
    return encode(call, tuple(fields.get(f, 0) for f in FORMS[call].request), data)


def _hello() -> bytes:
    return _call("HELLO", pid=1, key=key())


@cache
def _good() -> bytes:
    return _hello() + _call("ALLOCATE", size=64) + _call("SYNCHRONIZE")


@cache
def _memory() -> bytes:
    block = {"address": BASE, "pitch": 64, "width": 32, "rows": 4}
    return b"".join(
        [
            _hello(),
            _call("ALLOCATE", size=1024),
            _call("ALLOCATE", size=4096, kind=1),
            _call("FILL", **block, value=7, unit=4),
            _call("COPY", to=BASE + 512, source=BASE, width=256, rows=1),
            _call("WRITE", **block),
            _call("WRITTEN", **block),
            _call("READ", **block),
            _call("POINTER", address=BASE + 8),
            _call("MEMORY"),
            _call("SET_LIMIT", limit=0, value=4096),
            _call("FREE", address=BASE + 1024),
        ]
    )  # fmt: skip


@cache
def _code() -> bytes:
    """The module's variable takes the first place in memory, 256 bytes."""
    launch = {"kernel": FIRST + 1, "grid_y": 1, "grid_z": 1, "block_y": 1, "block_z": 1}
    return b"".join(
        [
            _hello(),
            _call("LOAD_MODULE", PTX),
            _call("FIND_KERNEL", b"add", module=FIRST),
            _call("FIND_VARIABLE", b"counter", module=FIRST),
            _call("CREATE_STREAM"),
            _call("CREATE_EVENT"),
            _call("ALLOCATE", size=256),
            _call("LAUNCH", struct.pack("<QI", BASE + 256, 32), **launch, grid_x=2, block_x=64),
            _call("RECORD_EVENT", event=FIRST + 3, stream=FIRST + 2),
            _call("OCCUPANCY", kernel=FIRST + 1, threads=64),
            _call("CLUSTERS", kernel=FIRST + 1, threads=64, ctas=1),
            _call("ELAPSED", start=FIRST + 3, end=FIRST + 3),
            _call("SYNCHRONIZE", stream=FIRST + 2),
            _call("UNLOAD_MODULE", module=FIRST),
        ]
    )


@cache
def _rest() -> bytes:
    texture = {"address": BASE, "pitch": 64, "width": 16, "height": 4, "levels": 1, "channels": 1}
    texture |= {"bits": 32, "kind": 2, "level_most": 0x7F800000}
    numbers = (16, 16, 1, 1, 1, 64, 0, 0, 0, 0, 1, 1, 1, 1, 1, 8, 8, 1, 1, 1, 0, 0, 0, 0, 0)
    encoded = _call("ENCODE_TENSOR_MAP", encode_body(numbers), type=7, rank=2, address=BASE)
    return b"".join(
        [
            _hello(),
            _call("ALLOCATE", size=4096),
            _call("CREATE_TEXTURE", **texture),
            encoded,
            _call("MOVE_TENSOR_MAP", bytes(128), address=BASE),
            _call("UNSUPPORTED", b"cuNothing"),
            _call("DESTROY_TEXTURE", texture=BASE + 4096),
            _call("DESTROY_EVENT", event=FIRST),
            _call("DESTROY_STREAM", stream=FIRST),
            _call("RESET"),
        ]
    )


@cache
def _record() -> bytes:
    """A record of what the other target sends, as it is written while that is served."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        simulator, writer = Quiet(), RecordWriter(Path(folder))
        for number, messages in enumerate((_memory(), _code(), _rest())):
            ours, theirs = socket.socketpair()
            connection = Connection(number, theirs, simulator, writer)
            ours.sendall(messages)
            ours.shutdown(socket.SHUT_WR)
            while connection.receive():
                pass
            connection.close()
            ours.close()
        writer.close()
        simulator.close()
        content = Path(folder, FILE).read_bytes()
    assert content.startswith(MAGIC) and len(content) > HEADER.size
    return content


TARGETS = (Socket, Record, ResealedRecord)

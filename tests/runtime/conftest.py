import os
import shutil
import socket
import struct
import sys
import threading

import numpy as np
import pytest

import lockstep
from lockstep.frontend.cuda.calls import BLOCKING, FORMS, HEADER, Call, decode, encode, key
from lockstep.runtime import Simulator, run_program
from lockstep.runtime.connection import Connection

SMALL = ("sm.count=4",)

PTX = """
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 counter[4] = {5, 6, 7, 8};
.visible .entry add(.param .u64 x, .param .u32 n, .param .f32 a)
{
    .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<4>; .reg .f32 %f<3>;
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    ld.param.u32 %r4, [n];
    setp.ge.u32 %p, %r1, %r4;
    @%p bra DONE;
    ld.param.u64 %rd1, [x];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    ld.global.f32 %f1, [%rd1];
    ld.param.f32 %f2, [a];
    add.f32 %f1, %f1, %f2;
    st.global.f32 [%rd1], %f1;
DONE:
    ret;
}
.visible .entry forever()
{
LOOP:
    bra LOOP;
}
"""


class Client:
    """A program of the tests: speaks the wire format, and executes what it sends itself."""

    def __init__(self, simulator, record=None, number=0):
        self.simulator = simulator
        self.link, theirs = socket.socketpair()
        self.link.settimeout(10)
        self.connection = Connection(number, theirs, simulator, record)
        self.device = self.call("HELLO", pid=1, key=key())
        _, files, _, _ = socket.recv_fds(self.link, 1, 1)
        self.files = files

    def send(self, name, data=b"", **fields):
        call = Call[name]
        fields = {"stream": BLOCKING, "event": 0, "flags": 0, "managed": 0} | fields
        values = tuple(fields[f] for f in FORMS[call].request)
        sender = threading.Thread(target=self.link.sendall, args=(encode(call, values, data),))
        sender.start()
        assert self.connection.receive()
        while self.connection.waiting:
            assert self.connection.receive()
        sender.join()

    def answer(self):
        number, status, size = HEADER.unpack(self._exactly(HEADER.size))
        return Call(number), status, self._exactly(size)

    def _exactly(self, size):
        data = b""
        while len(data) < size:
            data += self.link.recv(size - len(data))
        return data

    def call(self, name, data=b"", **fields):
        """The reply's fields; ``status`` if it is not zero."""
        self.send(name, data, **fields)
        call, status, body = self.answer()
        assert call.name == name
        if status:
            return {"status": status}
        reply, rest = decode(FORMS[call].reply, body)
        return {**reply, "data": rest}

    def write(self, address, values, stream=BLOCKING):
        raw = np.ascontiguousarray(values).view(np.uint8).ravel()
        region = {"address": address, "pitch": len(raw), "width": len(raw), "rows": 1}
        region["stream"] = stream
        assert "status" not in self.call("WRITE", **region)
        self.simulator.device.memory.view(address, len(raw))[:] = raw
        self.send("WRITTEN", **region)

    def read(self, address, count, dtype):
        size = count * np.dtype(dtype).itemsize
        reply = self.call("READ", address=address, pitch=size, width=size, rows=1)
        if "status" in reply:
            return reply["status"]
        return self.simulator.device.memory.view(address, size).view(dtype).copy()

    def module(self):
        return self.call("LOAD_MODULE", PTX.encode())["module"]

    def kernel(self, name="add"):
        return self.call("FIND_KERNEL", name.encode(), module=self.module())["kernel"]

    def launch(self, kernel, address, n, a, **shape):
        fields = dict.fromkeys(FORMS[Call.LAUNCH].request, 1)
        fields |= {"block_x": 128, "dynamic_shared": 0, "stream": 0, "cooperative": 0}
        fields |= {"kernel": kernel, **shape}
        return self.call("LAUNCH", struct.pack("<QIf", address, n, a), **fields)

    def close(self):
        self.link.close()
        self.connection.close()
        for file in self.files:
            os.close(file)


@pytest.fixture
def make_simulator():
    made = []

    def make(timed=False, gpu=None, **options):
        """Of a small A100, or of a whole GPU by its name."""
        modelled = lockstep.api.gpu(gpu) if gpu else lockstep.api.gpu("A100", SMALL)
        made.append(Simulator(modelled, timed, **options))
        return made[-1]

    yield make
    for simulator in made:
        simulator.close()


@pytest.fixture
def connect(make_simulator):
    clients = []

    def connect(timed=False, simulator=None, **options):
        clients.append(Client(simulator or make_simulator(timed), **options))
        return clients[-1]

    yield connect
    for client in clients:
        client.close()


@pytest.fixture
def new_client():
    return Client


@pytest.fixture
def client(connect):
    return connect()


@pytest.fixture
def run_python(make_simulator, tmp_path):
    """Function that runs Python text as an intercepted program: what it printed, and how it ended.

    The text has ``rt``, the replaced libcudart by ctypes, and ``cu``, the replaced libcuda.
    """
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("needs a C compiler, and there is none")

    def run(text, timed=False, simulator=None, library="libcudart.so.13", **options):
        script = tmp_path / "program.py"
        script.write_text(
            "import ctypes, os, sys\nfrom ctypes import *\n"
            f"rt, cu = CDLL({library!r}), CDLL('libcuda.so.1')\n"
            f"out = open({str(tmp_path / 'out')!r}, 'w', buffering=1)\n" + text
        )
        simulator = simulator or make_simulator(timed, **options)
        outcome = run_program(simulator, [sys.executable, str(script)])
        return outcome, (tmp_path / "out").read_text(), simulator

    run.ptx = PTX
    return run

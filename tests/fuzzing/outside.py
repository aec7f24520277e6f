"""Targets: what comes over the socket to a memory outside, at both of its ends."""

import ctypes
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from fixed_memory import FixedMemory
from fuzzing.target import Target
from fuzzing.workloads import MOST_CYCLES, small_gpu, tiny
from lockstep import api
from lockstep.errors import LockstepError
from lockstep.outside import REQUEST
from lockstep.outside.sockets import FRAME, HELLO, MAGIC, OVER, VERSION, WELCOME, SocketMemory
from lockstep.outside.sst import build

BUFFER = 1 << 20  # bytes that wait in a socket
PEER = r"""
#include "frames.h"
#include <cstdio>
// Reads all that a lockstep process says, and answers each request; what it said that was wrong.
extern "C" int hear(int stream, char* said, int size)
{
    try {
        lockstep::Process process(stream);
        std::vector<lockstep::Request> requests;
        int64_t end = 0, total = 0;
        while (process.next(end, requests)) {
            std::vector<lockstep::Answer> answers;
            for (auto& request : requests) answers.push_back({request.id, end - 1});
            total += requests.size();
            process.answer(end, answers);
        }
        snprintf(said, size, "%s %lld", process.gpu.c_str(), (long long)total);
        return 0;
    } catch (const std::exception& error) {
        snprintf(said, size, "%s", error.what());
        return 1;
    }
}
"""


class OutsideAnswers(Target):
    """All that the other side says in a run."""

    name = "outside-answers"

    def seeds(self) -> Sequence[bytes]:
        """What two memories say to a small kernel, one of which answers late."""
        return [_answers(20), _answers(400)]

    def read(self, data: bytes) -> object:
        """What is simulated."""
        here, there = _pair()
        drain = threading.Thread(target=_drain, args=(there,))
        drain.start()
        try:
            there.sendall(data)
            there.shutdown(socket.SHUT_WR)
            result = api.simulate(
                tiny(), small_gpu(), limit_cycles=MOST_CYCLES, outside=SocketMemory(here)
            )
            return result.hash, result.stopped
        finally:
            here.close()
            drain.join()
            there.close()


class OutsideRequests(Target):
    """All that lockstep says to a memory in C++, without SST."""

    name = "outside-requests"

    def prepare(self, folder: Path) -> None:
        """Compile the other end."""
        super().prepare(folder)
        library = folder / "peer.so"
        (folder / "peer.cc").write_text(PEER)
        command = ["g++", "-std=c++17", "-O1", "-fPIC", "-shared", "-o", str(library)]
        command += [f"-I{Path(build.__file__).parent}", str(folder / "peer.cc")]
        subprocess.run(command, check=True)
        self._peer = ctypes.CDLL(str(library))

    def seeds(self) -> Sequence[bytes]:
        """A run of three windows."""
        return [_requests()]

    def read(self, data: bytes) -> object:
        """The GPU's name and how many requests there were."""
        here, there = _pair()
        drain = threading.Thread(target=_drain, args=(there,))
        drain.start()
        said = ctypes.create_string_buffer(300)
        try:
            there.sendall(data)
            there.shutdown(socket.SHUT_WR)
            wrong = self._peer.hear(os.dup(here.fileno()), said, len(said))
        finally:
            here.close()
            drain.join()
            there.close()
        if wrong:
            raise LockstepError(said.value.decode())
        return said.value


def _pair() -> tuple[socket.socket, socket.socket]:
    """Two ends; what is sent before anybody reads fits."""
    here, there = socket.socketpair()
    there.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
    return here, there


def _drain(stream: socket.socket) -> None:
    while stream.recv(1 << 16):
        pass


class _Noted(FixedMemory):
    """Notes what a socket to it would carry."""

    def __init__(self, cycles: int):
        super().__init__(cycles)
        self.said = np.array([(MAGIC, VERSION)], WELCOME).tobytes()

    def exchange(self, end: int, requests: np.ndarray) -> np.ndarray:
        answers = super().exchange(end, requests)
        self.said += np.array([(end, len(answers))], FRAME).tobytes() + answers.tobytes()
        return answers


@cache
def _answers(cycles: int) -> bytes:
    memory = _Noted(cycles)
    api.simulate(tiny(), small_gpu(), outside=memory)
    return memory.said


@cache
def _requests() -> bytes:
    name = "QV100 é".encode()
    hello = np.zeros(1, HELLO)
    hello[0] = (MAGIC, VERSION, 4, 2, 128, 32, 60, 64, 1.5e9, len(name))
    said = hello.tobytes() + name
    for window, count in enumerate((0, 3, 8)):
        end, requests = 60 * (window + 1), np.zeros(count, REQUEST)
        requests["id"], requests["cycle"] = np.arange(count), end + np.arange(count)
        requests["address"], requests["sectors"], requests["bytes"] = 128 * requests["id"], 15, 128
        said += np.array([(end, count)], FRAME).tobytes() + requests.tobytes()
    return said + np.array([(0, OVER)], FRAME).tobytes()


TARGETS = (OutsideAnswers, *((OutsideRequests,) if shutil.which("g++") else ()))

"""One program's connection: messages in, answers out."""

import socket
import sys
from time import perf_counter

from lockstep.frontend.cuda.calls import (
    BLOCKING,
    FORMS,
    HEADER,
    Call,
    CallError,
    decode,
    decode_header,
    encode,
    encode_printed,
)
from lockstep.frontend.cuda.record import RecordWriter
from lockstep.host_calls import HostCall
from lockstep.runtime.answers import CallAnswer, Refused
from lockstep.runtime.context import ProgramContext
from lockstep.runtime.simulator import Simulator

PIECE = 1 << 18  # bytes received at once
PATIENCE = 30.0  # seconds in which a program takes an answer
_WAITING = {Call.SYNCHRONIZE, Call.LOAD_MODULE, Call.UNLOAD_MODULE, Call.RESET}


class Connection:
    """Reads messages, executes them one by one, and answers."""

    def __init__(
        self, number: int, link: socket.socket, simulator: Simulator, record: RecordWriter | None
    ):
        link.settimeout(PATIENCE)
        self.number = number
        self.link, self.context = link, ProgramContext(simulator)
        self._simulator, self._record = simulator, record
        self._answered = 0.0  # host time of the last answer; 0 = there was none
        self.waiting = bytearray()  # of a message that has not arrived as a whole
        self._printed = bytearray()  # by the program's kernels; it was not told yet
        simulator.keep_printed()

    def receive(self) -> bool:
        """Execute what has arrived; false at the end of the connection.

        It waits for a piece alone, never for a whole message: others are served meanwhile.
        """
        try:
            piece = self.link.recv(PIECE)
            if not piece and self.waiting:
                raise CallError("the program went away within a message")
            self.waiting += piece
            while len(self.waiting) >= HEADER.size:
                call, _, size = decode_header(bytes(self.waiting[: HEADER.size]))
                end = HEADER.size + size
                if len(self.waiting) < end:
                    break
                body = bytes(self.waiting[HEADER.size : end])
                del self.waiting[:end]
                self._execute(call, body)
            return bool(piece)
        except CallError as error:
            self._simulator.report(f"the connection of a program ended: {error}")
            return False
        except OSError:
            return False

    def _execute(self, call: Call, body: bytes) -> None:
        fields, data = decode(FORMS[call].request, body)
        self._count_own_time()
        if self._record and call == Call.LAUNCH:
            self._record.note(self.number, self.context.owned.unannounced(), self._look)
        waits = call in _WAITING or fields.get("stream") == BLOCKING
        waits = waits and not FORMS[call].one_way
        if call == Call.LAUNCH:
            self._tell_printed()
        try:
            answer = self.context.perform(call, fields, data)
            self._bring_printed(waits)
        except Refused as refused:
            self._bring_printed(waits)
            self._refuse(call, refused)
            return
        if self._record:
            result = answer.fields[0] if answer.fields else 0
            self._record.add(self.number, call, result, body, self._look)
        if not FORMS[call].one_way:
            self.link.sendall(encode(call, answer.fields, answer.data))
        if call == Call.HELLO:
            socket.send_fds(self.link, [b"m"], [self._simulator.device.memory.file])
        self.context.finish(answer)
        self._take_printed()
        self._answered = perf_counter()

    def _bring_printed(self, waits: bool) -> None:
        """The program gets what its kernels have printed when it waits for them, as in CUDA."""
        self._take_printed()
        if waits:
            self._tell_printed()

    def _take_printed(self) -> None:
        self._printed += self._simulator.printed
        self._simulator.printed.clear()

    def _tell_printed(self) -> None:
        if self._printed:
            self.link.sendall(encode_printed(bytes(self._printed)))
            self._printed.clear()

    def _count_own_time(self) -> None:
        """What the program did since its last call takes time in the model, if that is asked."""
        seconds = (perf_counter() - self._answered) * self._simulator.device.gpu.host.time_scale
        if self._answered and seconds > 0:
            self.context.device.asks(HostCall(None, "", round(seconds * 1e12)))

    def _look(self, address: int, size: int) -> memoryview:
        return self._simulator.home(address).memory.view(address, size).data

    def _refuse(self, call: Call, refused: Refused) -> None:
        if refused.problem:
            self._simulator.report(refused.problem)
        if not FORMS[call].one_way:
            self.link.sendall(encode(call, status=refused.status))

    def finish(self) -> bool:
        """Finish the launches of a program that has gone."""
        self.context.finish(CallAnswer(then=self.context.device.drain))
        return True

    def close(self) -> None:
        """Free what the program had; the record says so, because others may get its memory."""
        self.link.close()
        self._take_printed()  # what the program did not wait for
        sys.stdout.write(self._printed.decode("utf-8", "replace"))
        self.context.close()
        if self._record:
            self._record.add(self.number, Call.RESET, 0, b"", self._look)

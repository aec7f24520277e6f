"""Serving the calls of programs until the first of them has ended."""

import contextlib
import os
import secrets
import selectors
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from lockstep.errors import LockstepError
from lockstep.frontend.cuda.record import RecordWriter
from lockstep.runtime.connection import Connection
from lockstep.runtime.simulator import Simulator

_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid: struct ucred of unix(7)

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class ProgramKilled(KeyboardInterrupt):
    """The program was killed while a kernel of it ran. Ends the kernel as Ctrl-C does."""


class Server:
    """A socket that programs of this user connect to; its name is in no file system."""

    def __init__(self, simulator: Simulator, record: RecordWriter | None = None):
        self.simulator, self._record = simulator, record
        self.name = f"lockstep-{os.getpid()}-{secrets.token_hex(8)}"
        self._selector = selectors.DefaultSelector()
        self._connections: list[Connection] = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(b"\0" + self.name.encode())
        self._listener.listen()
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._executing = self._given_up = self._killed = False
        self._accepted = 0

    def serve(self, program: subprocess.Popen) -> None:
        """Execute calls until the program has ended and all that it sent is done."""
        ended = os.pidfd_open(program.pid)
        self._selector.register(ended, selectors.EVENT_READ, program)
        try:
            with self._watching(program):
                while self._step(ended, None):
                    pass
                self._selector.unregister(ended)
                while self._step(ended, 0):
                    pass
        finally:
            os.close(ended)

    def _step(self, ended: int, timeout: float | None) -> bool:
        """Serve what is ready; false when the program has ended, or nothing is ready."""
        ready = [key for key, _ in self._selector.select(timeout)]
        over = next((key for key in ready if key.fileobj == ended), None)
        if over:
            self._look_at(over.data)  # before its connections: their launches may be given up
        for key in ready:
            if key.fileobj is self._listener:
                self._accept()
            elif key.fileobj != ended:
                self._receive(key.data)
        return bool(ready) and not over

    @contextlib.contextmanager
    def _watching(self, program: subprocess.Popen) -> Iterator[None]:
        """Let the death of the program, and signals that end the run, interrupt a kernel.

        Ctrl-C at a terminal is both: whichever comes first counts. Other signals come here alone
        and are passed on to the program. Signals come to the main thread alone: in another one, as
        in workers of Dask, a kernel runs to its end, and the death is found after it.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def died(number: int, frame: FrameType | None) -> None:
            if self._look_at(program) and self._executing:
                raise ProgramKilled

        def interrupted(number: int, frame: FrameType | None) -> None:
            if not self._given_up:
                self._given_up = True
                if number != signal.SIGINT:
                    program.send_signal(number)
                handlers[number](number, frame)

        known = {int(number): signal.getsignal(number) for number in _ENDING}
        handlers = {number: handler for number, handler in known.items() if callable(handler)}
        before = {number: signal.signal(number, interrupted) for number in handlers}
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, died)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _look_at(self, program: subprocess.Popen) -> bool:
        """Whether the program is found killed: what it has launched since is given up then."""
        what = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            state = os.waitid(os.P_PID, program.pid, what)
        except ChildProcessError:  # a signal ended both, and to pass it on has found that out
            return False
        if state is None or state.si_code == os.CLD_EXITED or self._given_up:
            return False
        self._given_up = self._killed = True
        return True

    def _accept(self) -> None:
        link, _ = self._listener.accept()
        raw = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        if _CREDENTIALS.unpack(raw)[1] != os.getuid():
            link.close()
            return
        connection = Connection(self._accepted, link, self.simulator, self._record)
        self._accepted += 1
        self._connections.append(connection)
        self._selector.register(link, selectors.EVENT_READ, connection)

    def _receive(self, connection: Connection) -> None:
        if not self._interruptible(connection.receive):
            self._drop(connection)

    def _interruptible(self, action: Callable[[], bool]) -> bool:
        """Do something that the program's death ends; false then.

        Ctrl-C ends it, too, and goes on to the caller. Both say on stderr where the kernel was.
        """
        try:
            self._executing = True
            return action()
        except KeyboardInterrupt as error:
            for place in getattr(error, "__notes__", ()):
                self.simulator.report(place)
            if self._killed:
                return False
            raise
        finally:
            self._executing = False

    def _drop(self, connection: Connection) -> None:
        self._selector.unregister(connection.link)
        self._connections.remove(connection)
        if not self._given_up:
            self._interruptible(connection.finish)
        connection.close()

    def close(self) -> None:
        """End all connections; launches that wait are given up."""
        self._given_up = True
        for connection in tuple(self._connections):
            with contextlib.suppress(LockstepError):
                self._drop(connection)
        self._selector.close()
        self._listener.close()

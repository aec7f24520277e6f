"""``kernelslist.g``: the copies and kernel launches of a program, in order."""

import os
import re
from pathlib import Path

import msgspec

from lockstep.errors import InputError
from lockstep.workload import MemoryCopy

MOST_BYTES = 1 << 26  # of a list: a million commands
MOST_COPIED = 1 << 40  # bytes of one copy: more than any GPU has memory
_OTHER_COPIES = {"DtoH", "DtoD", "HtoH", "HtoA", "AtoH", "DtoA", "AtoD", "AtoA", "Peer"}
_COPY = re.compile(r"MemcpyHtoD,(?:0[xX])?([0-9a-fA-F]{1,16}),(\d{1,19})", re.ASCII)


class ListedLaunch(msgspec.Struct, frozen=True):
    """A kernel launch: its trace file, and the line that names it."""

    path: Path
    line: int


def read_list(path: Path) -> list[ListedLaunch | MemoryCopy]:
    """The commands that a simulation runs; other CUDA calls are left out, as Accel-Sim does."""
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(path, "", f"cannot be read: {error.strerror or error}") from None
    if len(data) > MOST_BYTES:
        raise InputError(path, "", f"expected a list of kernels of up to {MOST_BYTES} bytes")
    commands = []
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        command = _command(path, number, line.strip())
        if command:
            commands.append(command)
    return commands


def _command(path: Path, number: int, line: str) -> ListedLaunch | MemoryCopy | None:
    where = f"line {number}"
    if line.startswith("kernel"):
        trace = path.parent / line
        if not os.path.isfile(trace):  # Path.is_file raises for names that no file can have
            raise InputError(path, where, f"there is no file {line[:80]!r} beside the list")
        return ListedLaunch(trace, number)
    if line.startswith("MemcpyHtoD"):
        match = _COPY.fullmatch(line)
        if not match or int(match[2]) > MOST_COPIED:
            expected = f"'MemcpyHtoD,0x<address>,<bytes>' with at most {MOST_COPIED} bytes"
            raise InputError(path, where, f"expected {expected}, found {line[:60]!r}")
        return MemoryCopy(_signed(int(match[1], 16)), int(match[2]))
    copy = line.startswith("Memcpy") and re.split(r"\W", line[6:])[0] not in _OTHER_COPIES
    if copy or ".trace" in line or not re.match(r"[A-Za-z_]|$", line):
        expected = "a CUDA call or a trace file whose name starts with 'kernel'"
        raise InputError(path, where, f"expected {expected}, found {line[:60]!r}")
    return None


def _signed(address: int) -> int:
    """A 64-bit address as the int64 of the same bits."""
    return address - (1 << 64) if address >> 63 else address

"""The header of a kernel's trace: ``-key = value`` lines up to the first that starts with ``#``."""

import re
from typing import NoReturn

import msgspec

from lockstep.errors import InputError
from lockstep.isa.instruction import MOST_CLUSTER_CTAS, MOST_THREADS, WARP_SIZE
from lockstep.workload import (
    MOST_BLOCK,
    MOST_GRID,
    MOST_REGISTERS,
    MOST_SHARED_BYTES,
    NEWEST_ARCHITECTURE,
)

MOST_BYTES = 1 << 20  # a header is some hundred bytes, and a mangled name some thousand
NEWEST_TRACER = 6
_MOST_CLUSTER = (MOST_CLUSTER_CTAS,) * 3
_KEYS = (
    "kernel name", "kernel id", "grid dim", "cluster dim", "block dim", "shmem",
    "nregs", "binary version", "cuda stream id", "shmem base_addr", "local mem base_addr",
    "nvbit version", "accelsim tracer version", "enable lineinfo",
)  # fmt: skip
_SPACE = re.compile(r"[ \t]+")  # str.split takes control characters for white space, too
_UNSIGNED = (1 << 64) - 1
_TRIPLE = re.compile(r"\(\s*(\d{1,19})\s*,\s*(\d{1,19})\s*,\s*(\d{1,19})\s*\)", re.ASCII)


class Header(msgspec.Struct, frozen=True):
    """What a trace says about its kernel launch before the first instruction."""

    name: str
    id: int
    grid: tuple[int, int, int]
    cluster: tuple[int, int, int]  # of our own traces alone: no tracer writes it
    block: tuple[int, int, int]
    shared_bytes: int
    registers: int
    architecture: int
    stream: int
    shared_base: int
    local_base: int
    tracer: int  # major version; 0 = too old to say
    lineinfo: bool
    lines: int  # of text, with the one that ends it
    bytes: int

    @property
    def threads(self) -> int:
        """Threads in a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warps(self) -> int:
        """Warps in a block."""
        return -(-self.threads // WARP_SIZE)

    @property
    def blocks(self) -> int:
        """Thread blocks in the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]


def parse_header(text: bytes, path) -> Header:
    """Parse the header at the start of ``text``; the rest of it may be cut anywhere."""
    fields, lines, size = _split(text, path)
    values = _Values(fields, path)
    header = Header(
        name=values.text("kernel name"),
        id=values.number("kernel id", _UNSIGNED),
        grid=values.triple("grid dim", MOST_GRID),
        cluster=values.triple("cluster dim", _MOST_CLUSTER, default=(1, 1, 1)),
        block=values.triple("block dim", MOST_BLOCK),
        shared_bytes=values.number("shmem", MOST_SHARED_BYTES),
        registers=values.number("nregs", MOST_REGISTERS),
        architecture=values.number("binary version", NEWEST_ARCHITECTURE),
        stream=values.number("cuda stream id", _UNSIGNED),
        shared_base=values.hexadecimal("shmem base_addr"),
        local_base=values.hexadecimal("local mem base_addr"),
        tracer=values.tracer(),
        lineinfo=values.number("enable lineinfo", 1, default=0) == 1,
        lines=lines,
        bytes=size,
    )
    if header.threads > MOST_THREADS:
        expected = f"at most {MOST_THREADS} threads in a block, found {header.threads}"
        values.fail("block dim", expected)
    return header


def _split(text: bytes, path) -> tuple[dict[str, tuple[str, int]], int, int]:
    """The fields with their line numbers, the number of lines, and of bytes."""
    fields: dict[str, tuple[str, int]] = {}
    position = number = 0
    while position < len(text):
        stop = text.find(b"\n", position)
        stop = len(text) if stop < 0 else stop
        line = text[position:stop].decode("utf-8", "replace").strip()
        position, number = stop + 1, number + 1
        if line.startswith("#"):
            return fields, number, min(position, len(text))
        if line.startswith("-"):
            _add(fields, line, number, path)
        elif line:
            expected = "a header line '-key = value' or the line '#traces format'"
            raise InputError(path, f"line {number}", f"expected {expected}, found {line[:40]!r}")
    raise InputError(
        path, f"line {number}", "the header is not closed by a line that starts with '#'"
    )


def _add(fields: dict[str, tuple[str, int]], line: str, number: int, path) -> None:
    key, equals, value = line[1:].partition("=")
    if not equals:
        raise InputError(path, f"line {number}", f"expected '-key = value', found {line[:40]!r}")
    key = " ".join(_SPACE.split(key.strip(" \t")))
    damaged = [k for k in _KEYS if len(k) == len(key) and 0 < sum(map(str.__ne__, k, key)) <= 2]
    if damaged:
        raise InputError(path, f"line {number}", f"expected '-{damaged[0]}', found {key!r}")
    if key in fields:
        raise InputError(
            path, f"line {number}", f"the key '{key[:40]}' was given on line {fields[key][1]}"
        )
    fields[key] = (value.strip(), number)


class _Values:
    """Typed access to the fields, with errors that name the line."""

    def __init__(self, fields: dict[str, tuple[str, int]], path):
        self._fields, self._path = fields, path

    def fail(self, key: str, expected: str) -> NoReturn:
        """Raise the error for the field ``key``."""
        raise InputError(self._path, f"line {self._fields[key][1]}", f"{key}: expected {expected}")

    def text(self, key: str) -> str:
        """A value that must not be empty."""
        value = self._fields.get(key, ("", 0))[0]
        if not value:
            raise InputError(self._path, "", f"the header lacks '-{key} = ...'")
        return value

    def number(self, key: str, most: int, default: int | None = None) -> int:
        """A decimal number from 0 to ``most``."""
        if key not in self._fields and default is not None:
            return default
        value = self.text(key)
        if not re.fullmatch(r"\d{1,20}", value, re.ASCII) or int(value) > most:
            self.fail(key, f"a number from 0 to {most}, found {value[:40]!r}")
        return int(value)

    def hexadecimal(self, key: str) -> int:
        """An address; 0 if the key is missing."""
        if key not in self._fields:
            return 0
        value = self.text(key)
        if not re.fullmatch(r"(0[xX])?[0-9a-fA-F]{1,16}", value):
            self.fail(key, f"a hexadecimal address, found {value[:40]!r}")
        return int(value, 16)

    def triple(
        self,
        key: str,
        limits: tuple[int, int, int],
        default: tuple[int, int, int] | None = None,
    ) -> tuple[int, int, int]:
        """``(x,y,z)``, each from 1 to its limit."""
        if key not in self._fields and default is not None:
            return default
        value = self.text(key)
        match = _TRIPLE.fullmatch(value)
        x, y, z = (int(n) for n in match.groups()) if match else (0, 0, 0)
        if not all(1 <= n <= most for n, most in zip((x, y, z), limits)):
            self.fail(key, f"(x,y,z) from (1,1,1) to {limits}, found {value[:40]!r}")
        return x, y, z

    def tracer(self) -> int:
        """Major version of the tracer; the oldest tracers did not write one."""
        key = "accelsim tracer version"
        if key not in self._fields:
            return 0
        value = self.text(key)
        match = re.fullmatch(r"(\d{1,4})(\.\d{1,4})*", value, re.ASCII)
        if not match or int(match.group(1)) > NEWEST_TRACER:
            self.fail(key, f"1.2 to {NEWEST_TRACER}, found {value[:40]!r}")
        return int(match.group(1))

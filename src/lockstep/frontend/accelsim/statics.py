"""The static instructions of a kernel, as its trace reveals them.

A trace repeats the text of an instruction every time it executes. The jitted reader recognises
what it has seen (mostly by guessing what followed last time, else in a hash table) and hands
what is new to :class:`Statics`, which has it lifted to an instruction record.
"""

import re
import threading
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lockstep._jit import as_records
from lockstep.errors import LockstepError
from lockstep.frontend.accelsim.parser import ADDRESSED, BULK, HEAD, PLAIN, VARIANT
from lockstep.isa import sass
from lockstep.isa.instruction import MAX_DESTINATIONS, MAX_SOURCES
from lockstep.workload import Code

MOST_STATICS = 1 << 18  # 4 MiB of code; the largest kernels known have 1 MiB
FEW_STATICS = 512  # for which there is room at first: as many as most kernels have
MOST_VARIANTS = 1024  # of one head; an instruction has one immediate, but bulk copies differ
BULK_OPCODES = frozenset(
    ("UTMALDG", "UTMASTG", "UTMAPF", "UTMAREDG", "UBLKCP", "UBLKPF", "UBLKRED")
)
_OPCODE = re.compile(r"[A-Za-z][A-Za-z0-9_.]{0,127}")


class TraceOperation(NamedTuple):
    """The head of an instruction line, understood."""

    opcode: str
    destinations: tuple[int | None, ...]
    sources: tuple[int | None, ...]
    addressed: bool


class Statics:
    """Heads and variants as the jitted reader looks them up, and the ``Code`` they stand for."""

    def __init__(self, code: Code, architecture: int, tracer: int):
        self.code, self._architecture, self._tracer = code, architecture, tracer
        self._operations: list[TraceOperation | None] = [None]  # by head
        self._heads: dict[tuple[int, bytes], int] = {}
        self._variants: dict[tuple[int, int], int] = {}
        self._variants_of: list[int] = [0]  # by head
        self._known: dict[tuple, int] = {}  # what a static instruction is -> its index
        self._texts: dict[str, int] = {}
        self._n_variants = 1
        self._text_size = 0
        self._lock = threading.Lock()  # two passes over a kernel may run at once
        self.generation = 0  # counts how often the arrays were replaced
        self.heads = np.zeros(FEW_STATICS, HEAD)
        self.heads["pc"][0] = -1
        self.variants = np.zeros(FEW_STATICS, VARIANT)
        self.text = np.zeros(FEW_STATICS * 32, np.uint8)
        self.slots = np.zeros(FEW_STATICS * 4, np.int64)

    def arrays(self) -> dict[str, np.ndarray]:
        """What the jitted reader looks things up in, as of this generation."""
        with self._lock:
            return {
                "heads": as_records(self.heads),
                "variants": as_records(self.variants),
                "text": self.text,
                "slots": self.slots,
            }

    def add_head(self, pc: int, text: bytes) -> None:
        """Make the head of an instruction known."""
        operation = parse_head(text, self._tracer)
        with self._lock:
            number = len(self._operations)
            if (pc, text) in self._heads:
                return  # another pass was faster
            if number >= MOST_STATICS:
                raise LockstepError(f"more than {MOST_STATICS} different instructions")
            self._reserve(number + 1, self._n_variants, self._text_size + len(text))
            start, stop = self._text_size, self._text_size + len(text)
            self.text[start:stop] = np.frombuffer(text, np.uint8)
            kind = ADDRESSED if operation.addressed else PLAIN
            if self._tracer >= 6 and operation.opcode.partition(".")[0] in BULK_OPCODES:
                kind = BULK
            ldgsts = operation.opcode.startswith("LDGSTS")
            self.heads[number] = (pc, start, len(text), kind, ldgsts, 0)
            self._text_size = stop
            self._operations.append(operation._replace(addressed=kind != PLAIN))
            self._variants_of.append(0)
            self._heads[pc, text] = number
            self._insert(number)

    def add_variant(self, head: int, immediate: int) -> None:
        """Make a head with a new value of its immediate known: lift the instruction."""
        with self._lock:
            number = self._n_variants
            if (head, immediate) in self._variants:
                return
            if number >= MOST_STATICS or self._variants_of[head] >= MOST_VARIANTS:
                raise LockstepError("too many different immediates of the same instruction")
            self._reserve(len(self._operations), number + 1, self._text_size)
            row = self.heads[head]
            static = self._lift(int(row["pc"]), self._operations[head], immediate)
            addressed = int(self.code.instructions[static]["width"] > 0)
            self.variants[number] = (head, immediate, static, addressed, row["first"], 0)
            row["first"] = self._variants[head, immediate] = number
            self._variants_of[head] += 1
            self._n_variants = number + 1

    def _lift(self, pc: int, operation: TraceOperation, immediate: int) -> int:
        """Static index of the instruction; two ways to write the same one share it."""
        key = (pc, operation, immediate)
        if key in self._known:
            return self._known[key]
        record, text = _lift(pc, operation, immediate, self._architecture)
        if text not in self._texts:
            self._texts[text] = len(self.code.texts)
            self.code.texts.append(text)
        record = record.copy()
        record["text"] = self._texts[text]
        self._known[key] = self.code.extend(record)
        return self._known[key]

    def _reserve(self, heads: int, variants: int, text: int) -> None:
        """Make room; the hash table stays half empty.

        Whatever grows, all arrays are replaced: a pass that still reads the old ones must not
        find in one of them the number of a record that only its replacement has.
        """
        arrays = ((self.heads, heads), (self.variants, variants), (self.text, text))
        if all(need <= len(array) for array, need in arrays):
            return
        self.heads, self.variants, self.text = (_grown(array, need) for array, need in arrays)
        self.slots = np.zeros(4 * len(self.heads), np.int64)
        for head in range(1, len(self._operations)):
            self._insert(head)
        self.generation += 1

    def _insert(self, number: int) -> None:
        pc, start, length, *_ = self.heads[number].tolist()
        slot = _hash(self.text[start : start + length], pc) & (len(self.slots) - 1)
        while self.slots[slot]:
            slot = (slot + 1) & (len(self.slots) - 1)
        self.slots[slot] = number


def _hash(text: np.ndarray, pc: int) -> int:
    """The twin of ``heads.head_hash``."""
    value = pc
    for byte in text.tobytes():
        value = ((value ^ byte) * 16777619) & 0x3FFFFFFFFF
    return value ^ (value >> 17)


def _grown(array: np.ndarray, need: int) -> np.ndarray:
    """A copy of the array, at least twice as long if it is shorter than ``need``."""
    length = len(array) if need <= len(array) else max(need, 2 * len(array))
    larger = np.zeros(length, array.dtype)
    larger[: len(array)] = array
    return larger


@lru_cache(maxsize=1 << 14)  # the launches of a kernel repeat its instructions
def _lift(
    pc: int, operation: TraceOperation, immediate: int, architecture: int
) -> tuple[np.ndarray, str]:
    return sass.lift(
        operation.opcode,
        operation.destinations,
        operation.sources,
        pc=pc,
        addressed=operation.addressed,
        immediate=immediate,
        architecture=architecture,
    )


@lru_cache(maxsize=1 << 14)
def parse_head(text: bytes, tracer: int) -> TraceOperation:
    """Parse ``count registers opcode count registers [flag] width``."""
    words = text.decode("ascii", "replace").split()
    destinations, rest = _registers(words, "destination", MAX_DESTINATIONS)
    opcode = rest[0] if rest else ""
    if not _OPCODE.fullmatch(opcode):
        raise LockstepError(f"expected an opcode, found {opcode[:40]!r}")
    sources, rest = _registers(rest[1:], "source", MAX_SOURCES)
    if tracer >= 6 and "GMMA" in opcode:
        if rest[:1] not in (["0"], ["1"]):
            raise LockstepError("expected the commit flag 0 or 1 after the registers")
        rest = rest[1:]
    if len(rest) != 1 or not re.fullmatch(r"\d{1,4}", rest[0], re.ASCII):
        raise LockstepError(f"expected 0 or the access width, found {' '.join(rest)[:40]!r}")
    return TraceOperation(opcode, destinations, sources, int(rest[0]) > 0)


def _registers(words: list[str], kind: str, most: int) -> tuple[tuple[int | None, ...], list[str]]:
    """The registers behind a count, and the words behind them."""
    count = int(words[0]) if words and re.fullmatch(r"\d{1,2}", words[0], re.ASCII) else -1
    if not 0 <= count <= most:
        raise LockstepError(f"expected 0 to {most} {kind} registers, found {words[:1]}")
    return tuple(map(sass.register_number, words[1 : 1 + count])), words[1 + count :]

"""The static code of all kernels: each distinct instruction once, each distinct code once.

Launches of one program share most of their code, but a trace reader may have met the instructions
in another order. So a code is a list of instruction numbers and a list of texts, and kernels with
equal lists share one.
"""

from typing import NamedTuple

import numpy as np

from lockstep._jit import jit
from lockstep.errors import LockstepError
from lockstep.frontend.tracefile.columns import Malformed, records_for_jit
from lockstep.frontend.tracefile.rows import NONE
from lockstep.isa.instruction import (
    CONSTANT_BANK,
    CONSTANT_BANKS,
    INSTRUCTION,
    MOST_THREADS,
    NO_BARRIER,
    NO_CONSTANT,
    NO_CONTROL,
    REGISTER_COUNT,
    WARP_SIZE,
    OpClass,
    Space,
    verify,
)
from lockstep.workload import Code

WORDS = INSTRUCTION.itemsize // 8
CONSTANT = WORDS - 1  # word of a record, the last one, that holds the place of its constant operand
NOTHING = np.empty(0, np.int64)
TEXT = dict(INSTRUCTION.fields or {})["text"][1] // 8  # word of a record that holds its text


class CodeTables(NamedTuple):
    """All codes, as four tables ``[column, row]``."""

    # Distinct records, a column a word but the last one; the text is a string number.
    instructions: np.ndarray
    codes: np.ndarray  # how many texts, how many instructions
    texts: np.ndarray  # string numbers, code after code
    members: np.ndarray  # instruction numbers minus position in the code, code after code
    constants: np.ndarray  # one column: the last word of the records


class CodeCollector:
    """Gathers the codes of kernels for writing."""

    def __init__(self, strings):
        self._strings = strings  # text to string number
        self._instructions: dict[bytes, int] = {}
        self._codes: dict[tuple[bytes, bytes], int] = {}

    def add(self, code: Code) -> int:
        """The number of a code; equal codes get the same. Raises :class:`LockstepError`."""
        _verify(code.instructions, code.texts)
        texts = np.array([self._strings(text) for text in code.texts], np.int64)
        words = _words(code.instructions).copy()
        if len(words):
            words[:, TEXT] = texts[words[:, TEXT]]
        table = self._instructions
        members = np.array([table.setdefault(w.tobytes(), len(table)) for w in words], np.int64)
        key = (texts.tobytes(), members.tobytes())
        return self._codes.setdefault(key, len(self._codes))

    def tables(self) -> CodeTables:
        """The codes so far."""
        lists = [[np.frombuffer(part, np.int64) for part in key] for key in self._codes]
        texts, members = [t for t, _ in lists], [m - np.arange(len(m)) for _, m in lists]
        words = np.frombuffer(b"".join(self._instructions), np.int64).reshape(-1, WORDS).T
        return CodeTables(
            words[:CONSTANT],
            np.array([[len(part) for part in parts] for parts in (texts, members)]),
            np.concatenate([*texts, NOTHING])[None],
            np.concatenate([*members, NOTHING])[None],
            words[CONSTANT:],
        )


def codes(tables: CodeTables, strings: list[str]) -> list[Code]:
    """The codes of the tables. Raises :class:`Malformed` for any the model could not execute."""
    texts, relative = tables.texts[0], tables.members[0]
    n_texts, n_members = tables.codes.tolist()
    due = len(texts), len(relative)
    if min(n_texts + n_members, default=0) < 0 or (sum(n_texts), sum(n_members)) != due:
        raise Malformed("expected codes as long as the lists of their parts")
    words = np.ascontiguousarray(np.concatenate([tables.instructions, tables.constants]).T)
    try:
        _verify(words.reshape(-1).view(INSTRUCTION), strings)
    except LockstepError as problem:
        raise Malformed(str(problem)) from None
    members, places = np.empty(len(relative), np.int64), np.empty(len(strings), np.int64)
    wrong = int(_first_wrong(words, tables.codes, texts, relative, members, places))
    if wrong != NONE:
        raise Malformed(f"code {wrong}: expected known texts, and known instructions with them")
    found = []
    for t, m in zip(n_texts, n_members):
        found.append(StoredCode(words, texts[:t], members[:m], strings))
        texts, members = texts[t:], members[m:]
    return found


class StoredCode(Code):
    """A code that makes its records when they are first asked for: there may be thousands."""

    def __init__(self, words, texts, members, strings):
        self._parts = words, texts, members, strings
        self._origins, self.file = (), ""  # a file has none

    def __getattr__(self, name: str):
        if name not in ("_records", "_count", "texts"):
            raise AttributeError(name)
        words, texts, members, strings = self._parts
        self.texts = [strings[t] for t in texts.tolist()]
        self._count = len(members)
        own = np.empty((self._count, WORDS), np.int64)
        _gather(words, texts, members, np.empty(len(strings), np.int64), own)
        self._records = own.reshape(-1).view(INSTRUCTION)
        return self.__dict__[name]


@jit
def _first_wrong(words, codes, texts, relative, members, places):
    """Fill ``members``; returns the first code that lacks an instruction or a text, or NONE."""
    places[:] = NONE
    t = m = 0
    for c in range(codes.shape[1]):
        own = texts[t : t + codes[0, c]]
        t += codes[0, c]
        for text in own:
            if not 0 <= text < len(places):
                return c
            places[text] = c  # a mark
        for i in range(codes[1, c]):
            member = relative[m] + i
            if not 0 <= member < len(words) or places[words[member, TEXT]] != c:
                return c
            members[m] = member
            m += 1
    return NONE


@jit
def _gather(words, texts, members, places, own):
    """Fill the records of one code, whose texts are numbered anew."""
    for i in range(len(texts) - 1, -1, -1):
        places[texts[i]] = i
    for i in range(len(members)):
        for c in range(WORDS):
            own[i, c] = words[members[i], c]
        own[i, TEXT] = places[own[i, TEXT]]


def _words(instructions: np.ndarray) -> np.ndarray:
    """Records as lines of 64-bit words."""
    return np.ascontiguousarray(instructions).view(np.int64).reshape(-1, WORDS)


def _verify(records: np.ndarray, texts: list[str]) -> None:
    """As :func:`~lockstep.isa.instruction.verify`, which is slow: only for a suspect record."""
    suspect = int(_first_suspect(records_for_jit(records), len(texts)))
    if suspect != NONE:
        verify(records[suspect : suspect + 1], texts)


CLASSES, SPACES = len(OpClass), len(Space)


@jit
def _first_suspect(records, texts):
    """The first record that ``verify`` might refuse, or NONE."""
    for i in range(len(records)):
        r = records[i]
        fine = 0 <= r.op < CLASSES and 0 <= r.space < SPACES and 0 <= r.width <= 64 and r.pc >= 0
        fine = fine and 0 <= r.text < texts and 0 <= r.destinations <= len(r.destination)
        fine = fine and 0 <= r.sources <= len(r.source) and NO_CONTROL <= r.stall <= 15
        fine = fine and 0 <= r.write_barrier <= NO_BARRIER and r.write_barrier != 6
        fine = fine and 0 <= r.read_barrier <= NO_BARRIER and r.read_barrier != 6
        fine = fine and 0 <= r.threads <= MOST_THREADS and r.threads % WARP_SIZE == 0
        fine = fine and NO_CONSTANT <= r.constant < CONSTANT_BANKS * CONSTANT_BANK
        if not (fine and 0 <= r.wait_mask < 64):
            return i
        for j in range(r.destinations):
            first, count = r.destination[j], r.destination_count[j]
            if first < 0 or count < 1 or count > REGISTER_COUNT - first:
                return i
        for j in range(r.sources):
            first, count = r.source[j], r.source_count[j]
            if first < 0 or count < 1 or count > REGISTER_COUNT - first:
                return i
    return NONE

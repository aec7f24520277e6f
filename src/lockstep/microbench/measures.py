"""From the words that kernels leave in ``out`` to the numbers of rows.

A measure gets one array of 64-bit words for each repeat, and its value is the median over these.
The same measures read what a real GPU and what a modelled one wrote.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

Raw = Sequence[np.ndarray]
SEGMENTS = 3  # that a kernel times: warming, short, long
STAMP_WORDS = 5  # of a block: start and end in nanoseconds, in clocks, SM
ROUNDS = 32  # that there is room for in a warp's half of a table of rounds


@dataclass(frozen=True, slots=True)
class Reading:
    """The number of a row, what else is worth saying, and the clocks that it was made of."""

    value: float
    notes: str = ""
    raw: str = ""
    names: dict[str, int] = field(default_factory=dict)


class Measure(Protocol):
    """Reads numbers from what a case left."""

    @property
    def words(self) -> int:
        """How many 64-bit words of ``out`` it looks at."""
        ...

    def read(self, raw: Raw) -> list[Reading]:
        """One reading, or one for each of several rows of the same kind."""
        ...


@dataclass(frozen=True, slots=True)
class Slope:
    """Cycles between the segments' spans, over the iterations between them.

    The value is that slope over ``steps``, or ``amount`` over the slope where there is an amount:
    lanes, pairs or bytes of an iteration. ``note`` is formatted with the slope as ``t``.
    """

    segments: tuple[int, int, int]
    warps: int
    steps: float = 1
    amount: float = 0
    note: str = ""

    @property
    def words(self) -> int:
        """Start and end of each segment and warp."""
        return self.warps * SEGMENTS * 2

    def read(self, raw: Raw) -> list[Reading]:
        """The slope; raw are the spans."""
        spans = [self.spans(words) for words in raw]
        between = self.segments[2] - self.segments[1]
        slope = float(np.median([(long - short) / between for short, long in spans]))
        if self.amount and not slope:
            return []  # clocks that do not go on
        value = self.amount / slope if self.amount else slope / self.steps
        text = " ".join(f"{short}:{long}" for short, long in spans)
        return [Reading(value, self.note.format(t=slope), text)]

    def spans(self, words: np.ndarray) -> tuple[int, int]:
        """From the first start to the last end of any warp, of the short and the long segment."""
        clocks = words[: self.words].reshape(self.warps, SEGMENTS, 2).astype(np.int64)
        spans = clocks[:, :, 1].max(axis=0) - clocks[:, :, 0].min(axis=0)
        return int(spans[1]), int(spans[2])


@dataclass(frozen=True, slots=True)
class Hops:
    """Cycles of one hop of a chain: two rounds of ``hops`` in each repeat."""

    hops: int
    words: int = 3

    def read(self, raw: Raw) -> list[Reading]:
        """The median of all rounds; the SMs that ran them are noted."""
        values = [float(words[r]) / self.hops for words in raw for r in range(2)]
        sms = " ".join(str(words[2]) for words in raw)
        return [Reading(float(np.median(values)), f"SM {sms}", _joined(values))]


@dataclass(frozen=True, slots=True)
class Throughput:
    """``amount`` bytes or operations a nanosecond, from the stamps of ``blocks`` blocks.

    That is from the first start to the last end of any block by the global timer, which on some
    GPUs ticks once a microsecond only.
    """

    amount: float
    blocks: int
    sms: int

    @property
    def words(self) -> int:
        """The stamps."""
        return self.blocks * STAMP_WORDS

    def read(self, raw: Raw) -> list[Reading]:
        """The rate; noted is that by the clocks of the longest block, of each SM."""
        values, texts, clocks = [], [], []
        for words in raw:
            stamps = words[: self.words].reshape(self.blocks, STAMP_WORDS).astype(np.int64)
            nanoseconds = int(stamps[:, 1].max() - stamps[:, 0].min())
            clocks.append(int((stamps[:, 3] - stamps[:, 2]).max()))
            values.append(self.amount / max(nanoseconds, 1))
            texts.append(f"{nanoseconds}:{clocks[-1]}")
        rate = self.amount / float(np.mean(clocks)) / min(self.blocks, self.sms)
        note = f"{rate:.2f} per clk and SM (longest block)"
        return [Reading(float(np.median(values)), note, " ".join(texts))]


@dataclass(frozen=True, slots=True)
class Increment:
    """What ``amount`` more bytes or operations take: two launches, the stamps of the long one last.

    A launch of a simulator is short, and its beginning and end would count; they cancel.
    """

    amount: float
    blocks: int

    @property
    def words(self) -> int:
        """The stamps of both."""
        return 2 * self.blocks * STAMP_WORDS

    def read(self, raw: Raw) -> list[Reading]:
        """The rate."""
        values, texts = [], []
        for words in raw:
            stamps = words[: self.words].reshape(2, self.blocks, STAMP_WORDS).astype(np.int64)
            short, long = (int(s[:, 1].max() - s[:, 0].min()) for s in stamps)
            values.append(self.amount / max(long - short, 1))
            texts.append(f"{short}:{long}")
        return [Reading(float(np.median(values)), "of a long launch less a short one",
                        " ".join(texts))]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rounds:
    """Cycles from the first start to the last end of any warp, median over rounds but the first.

    ``sectors``: that a round asks for.
    """

    rounds: int
    warps: int
    sectors: float

    @property
    def words(self) -> int:
        """A row of starts and ends for each warp."""
        return self.warps * 2 * ROUNDS

    def read(self, raw: Raw) -> list[Reading]:
        """The span of a round."""
        spans: list[float] = []
        for words in raw:
            clocks = words[: self.words].reshape(self.warps, 2, ROUNDS).astype(np.int64)
            both = clocks[:, 1, :].max(axis=0) - clocks[:, 0, :].min(axis=0)
            spans += [float(s) for s in both[1 : self.rounds]]
        value = float(np.median(spans))
        return [Reading(value, f"{self.sectors / value:.2f} sectors/clk", _joined(spans))]


@dataclass(frozen=True, slots=True)
class Word:
    """One word itself, less another one's if there is one, over ``steps``."""

    place: int
    less: int = -1
    steps: float = 1

    @property
    def words(self) -> int:
        """Up to the later place."""
        return max(self.place, self.less) + 1

    def read(self, raw: Raw) -> list[Reading]:
        """The median of the repeats."""
        signed = [words.astype(np.int64) for words in raw]
        values = [
            float(words[self.place] - (words[self.less] if self.less >= 0 else 0)) / self.steps
            for words in signed
        ]
        return [Reading(float(np.median(values)), "", _joined(values))]


@dataclass(frozen=True, slots=True)
class Elapsed:
    """Microseconds of each of ``times`` repetitions between two events, which give nanoseconds.

    With ``amount``, bytes: gigabytes a second.
    """

    times: int = 1
    amount: float = 0
    words: int = 1

    def read(self, raw: Raw) -> list[Reading]:
        """The median of the repeats."""
        values = [float(words[0]) / self.times for words in raw]
        value = float(np.median(values))
        if self.amount and not value:
            return []  # a copy that took no time
        found = self.amount / value if self.amount else value / 1e3
        return [Reading(found, "", _joined([v / 1e3 for v in values]))]


def _joined(values: Sequence[float]) -> str:
    return " ".join(f"{value:.8g}" for value in values)

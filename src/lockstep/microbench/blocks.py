"""Measures of what single blocks leave: where and when they ran, how long each line takes."""

from dataclasses import dataclass

import numpy as np

from lockstep.microbench.measures import STAMP_WORDS, Raw, Reading

FIRST = 300  # blocks whose SMs or starts are kept as raw values
TOGETHER_NS = 1000  # blocks that start within so long are resident at once


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Of a launch of so many blocks that leave stamps."""

    blocks: int

    @property
    def words(self) -> int:
        """The stamps."""
        return self.blocks * STAMP_WORDS

    def stamps(self, words: np.ndarray) -> np.ndarray:
        """A row for each block: start, end in nanoseconds, in clocks, SM."""
        return words[: self.words].reshape(self.blocks, STAMP_WORDS).astype(np.int64)


@dataclass(frozen=True, slots=True)
class BlockRate(_Blocks):
    """Nanoseconds a block, from the first start to the last end; raw: the SMs of the first."""

    def read(self, raw: Raw) -> list[Reading]:
        """One reading."""
        rates, spreads = [], []
        for words in raw:
            stamps = self.stamps(words)
            rates.append((stamps[:, 1].max() - stamps[:, 0].min()) / self.blocks)
            spreads.append(np.ptp(stamps[:, 0]))
        order = " ".join(str(sm) for sm in self.stamps(raw[-1])[:FIRST, 4])
        note = f"first to last start {np.median(spreads):.0f} ns; raw: SM of blocks 0.."
        return [Reading(float(np.median(rates)), note, order)]


@dataclass(frozen=True, slots=True)
class BlockGap(_Blocks):
    """Cycles between the starts of blocks of one SM that follow each other."""

    def read(self, raw: Raw) -> list[Reading]:
        """The median over all SMs."""
        gaps: list[int] = []
        stamps = self.stamps(raw[-1])
        for sm in np.unique(stamps[:, 4]):
            gaps += np.diff(np.sort(stamps[stamps[:, 4] == sm, 2])).tolist()
        return [Reading(float(np.median(gaps)))] if gaps else []


@dataclass(frozen=True, slots=True)
class ResidentBlocks(_Blocks):
    """The most blocks of an SM that start at once."""

    def read(self, raw: Raw) -> list[Reading]:
        """The count."""
        stamps = self.stamps(raw[-1])
        early = stamps[stamps[:, 0] - stamps[:, 0].min() < TOGETHER_NS]
        return [Reading(float(np.bincount(early[:, 4]).max()))]


@dataclass(frozen=True, slots=True)
class BlockStarts(_Blocks):
    """No value; raw: nanoseconds at which the first blocks start."""

    def read(self, raw: Raw) -> list[Reading]:
        """The starts."""
        starts = self.stamps(raw[-1])[:, 0]
        text = " ".join(str(ns) for ns in (starts - starts.min())[:FIRST])
        return [Reading(0.0, "", text)]


@dataclass(frozen=True, slots=True)
class _Lines:
    """Of blocks that leave their SM and the cycles of so many lines."""

    blocks: int
    lines: int

    @property
    def words(self) -> int:
        """SM and lines of each block."""
        return self.blocks * (self.lines + 1)

    def table(self, raw: Raw) -> np.ndarray:
        """A row for each block: its SM, then its lines."""
        return raw[-1][: self.words].reshape(self.blocks, self.lines + 1).astype(np.int64)


@dataclass(frozen=True, slots=True)
class LinesOfEach(_Lines):
    """The median line of each block; ``{sm}`` is the SM; raw: line by line."""

    def read(self, raw: Raw) -> list[Reading]:
        """A reading for each block."""
        return [
            Reading(float(np.median(row[1:])), "", " ".join(map(str, row[1:])), {"sm": int(row[0])})
            for row in self.table(raw)
        ]


@dataclass(frozen=True, slots=True)
class LinesOfAll(_Lines):
    """The 5th percentile of all lines; the others are noted."""

    def read(self, raw: Raw) -> list[Reading]:
        """One reading."""
        found = np.sort(self.table(raw)[:, 1:].reshape(-1))
        high = found[found.size * 19 // 20]
        note = f"p95 {high}, min {found[0]}, max {found[-1]}"
        return [Reading(float(found[found.size // 20]), note)]

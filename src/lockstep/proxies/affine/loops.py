"""Sequences to loops: what repeats is one loop, also inside of loops."""

import numpy as np

from lockstep.frontend.proxy.affine.programs import MOST_DEPTH

LONGEST = 4096  # symbols of a body


class Loops:
    """Folds the sequences of tokens of a kernel; loops are symbols from ``tokens`` on."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, bytes], int] = {}
        self._bodies: list[tuple[int, np.ndarray, int]] = []  # count, body, depth

    def fold(self, tokens: np.ndarray) -> tuple[list[int], list[int]]:
        """The entries of a sequence: ``entry_token`` and ``entry_span`` of the tables."""
        symbols = self._folded(tokens.astype(np.int64))
        entries: list[int] = []
        spans: list[int] = []
        self._write(symbols, entries, spans)
        return entries, spans

    def _folded(self, symbols: np.ndarray) -> np.ndarray:
        """Loops are numbers below 0."""
        while True:
            for period in _periods(symbols):
                shorter = self._collapse(symbols, period)
                if len(shorter) < len(symbols):
                    break
            else:
                return symbols
            symbols = shorter  # what is shorter may repeat after fewer symbols than before

    def _collapse(self, symbols: np.ndarray, period: int) -> np.ndarray:
        """Replace what repeats after ``period`` symbols."""
        if 2 * period > len(symbols):
            return symbols
        same = np.concatenate(([0], symbols[period:] == symbols[:-period], [0])).astype(np.int8)
        edges = np.diff(same)
        begins, ends = np.flatnonzero(edges > 0), np.flatnonzero(edges < 0)
        long = ends - begins >= period
        parts, at = [], 0
        for begin, end in zip(begins[long].tolist(), ends[long].tolist()):
            if begin < at:
                begin = at
                if end - begin < period:
                    continue
            turns = (end - begin) // period + 1
            body = symbols[begin : begin + period]
            symbol = self._symbol(turns, body)
            if symbol is None:
                continue
            parts += [symbols[at:begin], np.array([symbol])]
            at = begin + turns * period
        return np.concatenate([*parts, symbols[at:]]) if parts else symbols

    def _symbol(self, turns: int, body: np.ndarray) -> int | None:
        depth = 1 + max((self._bodies[-1 - s][2] for s in body.tolist() if s < 0), default=0)
        if depth > MOST_DEPTH - 1:
            return None
        key = turns, body.tobytes()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._bodies)
            self._bodies.append((turns, body.copy(), depth))
        return -1 - number

    def _write(self, symbols: np.ndarray, entries: list[int], spans: list[int]) -> None:
        for symbol in symbols.tolist():
            if symbol >= 0:
                entries.append(symbol)
                spans.append(0)
                continue
            turns, body, _ = self._bodies[-1 - symbol]
            at = len(entries)
            entries.append(-turns)
            spans.append(0)
            self._write(body, entries, spans)
            spans[at] = len(entries) - at - 1


def _periods(symbols: np.ndarray) -> list[int]:
    """Distances at which symbols occur again, the shortest first."""
    if len(symbols) < 2:
        return []
    order = np.argsort(symbols, kind="stable")
    again = np.diff(symbols[order]) == 0
    distances, counts = np.unique(np.diff(order)[again], return_counts=True)
    fine = (distances <= LONGEST) & (counts >= distances)
    return distances[fine].tolist()

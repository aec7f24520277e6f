"""What is known of launches that were not profiled, as numbers for classifiers.

Names count by the words in them, which kernels that are like each other share, and as a whole, so
that two names with words of one hash differ. The position of a
launch is its place in the iteration: a place in the program would be out of the range of anything
that classifiers have learned.
"""

import re
from typing import Self

import numpy as np
import pandas as pd

from lockstep.sampling.extras import sklearn
from lockstep.sampling.groups import DistinctRows, distinct
from lockstep.sampling.period import period
from lockstep.sampling.table import LIGHT, LaunchTable

WORDS = 256
ARGUMENTS = 8
_SHAPE = list(LIGHT[2:8])
_NUMBER = re.compile(r"(?<![\w.@+])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?!\w)", re.IGNORECASE)


class Light:
    """Launches by name, grid, block, scalar arguments and position; ``rows``: distinct ones."""

    def __init__(
        self, rows: DistinctRows, table: pd.DataFrame, words: np.ndarray, arguments: np.ndarray
    ):
        self.rows, self._table, self._words, self._arguments = rows, table, words, arguments

    @classmethod
    def of(cls, table: LaunchTable, seen: int) -> Self:
        """``seen``: the launches from the first on of which classifiers learn."""
        frame = table.frame[_SHAPE].copy()
        frame["name"], names = pd.factorize(table.frame["name"])
        frame["arguments"], arguments = pd.factorize(table.frame["arguments"])
        frame["position"] = position(table, seen)
        rows = distinct(frame)
        hashing = sklearn("feature_extraction.text").HashingVectorizer(
            n_features=WORDS, alternate_sign=False, norm=None, analyzer=_words, dtype=np.float32
        )  # fmt: skip
        words = hashing.transform(list(names)).toarray()
        numbers = np.array([_numbers(text) for text in arguments], np.float32)
        return cls(rows, frame.iloc[rows.first], words, numbers)

    def features(self, rows: np.ndarray) -> np.ndarray:
        """Float32 [rows, columns] of some distinct rows; sizes are logarithms."""
        table = self._table.iloc[rows]
        columns = [
            self._words[table["name"]],
            np.log1p(table[_SHAPE].to_numpy(np.float32)),
            self._arguments[table["arguments"]],
            np.log1p(table[["position"]].to_numpy(np.float32)),
        ]
        return np.concatenate(columns, axis=1)


def position(table: LaunchTable, seen: int) -> np.ndarray:
    """The place of each launch in its iteration, int64: since its marker began, where it has one.

    Without markers, in the period of the first ``seen`` launches; 0 if they have none.
    """
    place = np.arange(len(table))
    markers = pd.factorize(table.frame["range"])[0]
    if markers.any():
        begins = np.diff(markers, prepend=-1) != 0
        return place - np.maximum.accumulate(np.where(begins, place, 0))
    lag = period(table.codes()[:seen])
    return place % lag if lag else np.zeros(len(table), np.int64)


def _words(name: str) -> list[str]:
    return [*re.findall(r"\w+", name), f"1 {name}", f"2 {name}"]


def _numbers(text: str) -> list[float]:
    """The first numbers of arguments, no pointers, as logarithms with their signs; then 0."""
    found = [float(number) for number in _NUMBER.findall(text)[:ARGUMENTS]]
    logarithms = [float(np.sign(x) * np.log1p(min(abs(x), 1e300))) for x in found]
    return logarithms + [0.0] * (ARGUMENTS - len(logarithms))

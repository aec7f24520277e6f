"""CTAs as their blocks wrote them, for those who need no records of each."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from lockstep.execution.programs.program import Program

Taken = tuple[list[int], list[tuple[int, int, int]], np.ndarray, list[int]]
"""What ``StreamBuffers.take`` gives: numbers, indices, a buffer, and where each CTA ends in it."""


class WrittenCtas(NamedTuple):
    """CTAs of a launch that follow each other in the grid, and whose streams do so in ``words``.

    Valid until the next ones are asked for; whoever reads the words may change them.
    """

    program: Program
    words: np.ndarray  # int64
    ends: list[int]  # the word at which the stream of each ends; the first one begins at 0


def can_be_read(program: Program) -> bool:
    """Whether streams say it all: copies of tiles become records only where CTAs are made."""
    return not any(item.tiled for items in program.items for item in items)


def in_grid_order(program: Program, taken: Iterable[Taken]) -> Iterator[WrittenCtas]:
    """The CTAs of a launch in grid order: those that end early wait, as copies."""
    early: dict[int, np.ndarray] = {}
    wanted = 0
    for numbers, _, buffer, ends in taken:
        if numbers[0] == wanted and numbers[-1] - wanted == len(numbers) - 1:
            yield WrittenCtas(program, buffer, ends)
            wanted += len(numbers)
        else:
            for number, begin, end in zip(numbers, [0, *ends], ends):
                early[number] = buffer[begin:end].copy()
        while wanted in early:
            words = early.pop(wanted)
            yield WrittenCtas(program, words, [len(words)])
            wanted += 1

"""What is in a workload: instructions and opcodes of each kernel, counted from its streams."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from lockstep.isa import sass
from lockstep.workload import Cta, Kernel


@dataclass
class Census:
    """Dynamic counts of one or more kernels."""

    ctas: int = 0
    warp_instructions: int = 0
    thread_instructions: int = 0
    opcodes: Counter[str] = field(default_factory=Counter)  # base opcode -> warp instructions
    unknown: Counter[str] = field(default_factory=Counter)  # full opcodes that are in no table

    def add(self, other: "Census") -> None:
        """Add the counts of another kernel."""
        self.ctas += other.ctas
        self.warp_instructions += other.warp_instructions
        self.thread_instructions += other.thread_instructions
        self.opcodes += other.opcodes
        self.unknown += other.unknown


def census(kernel: Kernel) -> Census:
    """Count one kernel; reads all of it."""
    counts = Census()
    edges = np.zeros(
        0, np.int64
    )  # how many more runs cover a static instruction than the one before
    for cta in kernel.ctas():
        counts.ctas += 1
        counts.warp_instructions += int(cta.warps["warp_instructions"].sum())
        counts.thread_instructions += int(cta.warps["thread_instructions"].sum())
        edges = _with_edges(edges, cta)
    _name(counts, kernel, np.cumsum(edges))
    return counts


def _with_edges(edges: np.ndarray, cta: Cta) -> np.ndarray:
    first, end = cta.runs["static"], cta.runs["static"] + cta.runs["count"]
    size = max(len(edges), int(end.max(initial=0)) + 1)
    change = np.bincount(first, minlength=size) - np.bincount(end, minlength=size)
    change[: len(edges)] += edges
    return change


def _name(counts: Census, kernel: Kernel, executed: np.ndarray) -> None:
    """Add the executions of static instructions up by opcode."""
    instructions, texts = kernel.code.instructions, kernel.code.texts
    unlisted = sass.unlisted(instructions, texts, kernel.architecture)
    for record, times, is_unlisted in zip(instructions, executed.tolist(), unlisted):
        text = texts[record["text"]]
        counts.opcodes[text.split(".")[0]] += times
        if is_unlisted:
            counts.unknown[text] += times

"""The suite as a text that ``driver/driver.cpp`` runs on a GPU, and the raw words that it writes.

A plan is lines of words; a case is::

    case NAME|PARAMETERS
    options WORDS REPEATS COLD TIMED TIMES
    buffer NAME BYTES FILL STRIDE COUNT SYMBOL TEXTURE [WORD...]
    warm KERNEL GRID BLOCK SHARED CLUSTER COOPERATIVE EARLY ARGUMENT...
    launch (the same)
    copy KIND BYTES PINNED
    end

An argument is its kind, a colon, and its value: ``i32:4``, ``buffer:out+0``, ``segments:2,2,12``.
The raw results are a line for each repeat, ``NAME|PARAMETERS``, a tab, and 64-bit words.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from lockstep.errors import InputError
from lockstep.microbench.benchmark import (
    Argument,
    Benchmark,
    Buffer,
    Case,
    Copy,
    Kind,
    Launch,
    Target,
)
from lockstep.microbench.suite.launch import DEVICE as DEVICE_ROW
from lockstep.microbench.table import TableRow, rows_of

HEADER = "target"
DEVICE = "device"
FAILED = "failed"


def lines(target: Target, benchmarks: Iterable[Benchmark]) -> Iterator[str]:
    """The plan of all benchmarks that the target's architecture has the instructions for."""
    shape = target.sms, target.architecture, target.l2_bytes, target.shared_bytes
    yield " ".join(map(str, (HEADER, *shape)))
    for benchmark in benchmarks:
        if benchmark.runs_on(target):
            for case in benchmark.cases:
                yield from _case(case)


def _case(case: Case) -> Iterator[str]:
    words = max(row.measure.words for row in case.rows)
    yield f"case {case.key}"
    yield f"options {words} {case.repeats} {case.cold:d} {case.timed:d} {case.times}"
    for buffer in case.buffers:
        yield _buffer(buffer)
    for launch in case.warm:
        yield f"warm {_launch(launch)}"
    for step in case.launches:
        if isinstance(step, Copy):
            yield f"copy {step.kind} {step.bytes} {step.pinned:d}"
        else:
            yield f"launch {_launch(step)}"
    yield "end"


def _buffer(buffer: Buffer) -> str:
    words = "".join(f" {word}" for word in buffer.words)
    return (
        f"buffer {buffer.name} {buffer.bytes} {buffer.fill.value} {buffer.stride} {buffer.count}"
        f" {buffer.symbol or '-'} {buffer.texture:d}{words}"
    )


def _launch(launch: Launch) -> str:
    arguments = "".join(
        f" {argument.kind.value}:{_value(argument)}" for argument in launch.arguments
    )
    return (
        f"{launch.kernel} {launch.grid} {launch.block} {launch.shared} {launch.cluster}"
        f" {launch.cooperative:d} {launch.early:d}{arguments}"
    )


def _value(argument: Argument) -> str:
    if argument.kind is Kind.BUFFER:
        return f"{argument.value}+{argument.offset}"
    if argument.kind is Kind.SEGMENTS:
        return ",".join(str(n) for n in argument.value)
    return repr(argument.value)


class Raw:
    """What the driver wrote: the target, a description of the device, words by case, failures."""

    def __init__(self, path: Path):
        """Read a file of raw results; raises :class:`InputError` if it is none."""
        self.path = path
        self.target = Target(0, 0, full=True)
        self.device: TableRow | None = None
        self.words: dict[str, list[np.ndarray]] = {}
        self.failures: list[str] = []
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise InputError(path, "", f"cannot read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise InputError(path, "", "no raw results of microbenchmarks") from None
        for number, line in enumerate(text.splitlines(), 1):
            try:
                self._take(line)
            except (ValueError, OverflowError):
                raise InputError(path, f"line {number}", "no raw result of a case") from None
        if not self.target.sms:
            raise InputError(path, "", "no raw results of microbenchmarks: the target is missing")

    def _take(self, line: str) -> None:
        key, tab, rest = line.partition("\t")
        if not tab:
            raise ValueError
        if key == HEADER:
            sizes = list(map(int, rest.split()))
            if not 2 <= len(sizes) <= 4:
                raise ValueError
            self.target = Target(*sizes, full=True)  # type: ignore[arg-type]
        elif key == DEVICE:
            name, sms, notes = rest.split("\t")
            self.device = TableRow(DEVICE_ROW, name, float(sms), "SMs", notes)
        elif key == FAILED:
            self.failures.append(rest.replace("\t", ": "))
        else:
            words = np.array([int(word) for word in rest.split()], np.uint64)
            self.words.setdefault(key, []).append(words)

    def rows(self, benchmarks: Iterable[Benchmark]) -> Iterator[TableRow]:
        """The rows that the words say, of those cases that ran."""
        for benchmark in benchmarks:
            if benchmark.name == DEVICE_ROW and self.device:
                yield self.device
            for case in benchmark.cases:
                if case.key in self.words:
                    yield from rows_of(case, self._checked(case))

    def _checked(self, case: Case) -> list[np.ndarray]:
        wanted = max(row.measure.words for row in case.rows)
        found = self.words[case.key]
        if any(len(words) < wanted for words in found):
            raise InputError(self.path, case.key, f"expected {wanted} words of each repeat")
        return found

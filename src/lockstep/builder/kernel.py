"""Hand-written kernels: SASS-like instructions, loops, masks and address patterns to a workload.

::

    k = KernelBuilder("saxpy", grid=512, block=256)
    k("S2R R0, SR_TID.X")
    k("IMAD.WIDE R2, R0, R7, c[0x0][0x160]")
    with k.loop(16):
        k("LDG.E R4, [R2]", address=k.coalesced(0x7F0000000000, step=4 * 512 * 256))
        k("FFMA R8, R4, R5, R8")
    workload = k.workload()
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from lockstep.builder import patterns
from lockstep.builder.expansion import ALL, DivergentRegion, Expansion, Loop, Segment
from lockstep.builder.patterns import Mask, Pattern, Site
from lockstep.errors import LockstepError, WorkloadError
from lockstep.isa import sass
from lockstep.isa.instruction import MOST_THREADS, NO_BARRIER, WARP_SIZE, WARP_SIZES, verify
from lockstep.isa.sass import assembly
from lockstep.workload import (
    MOST_REGISTERS,
    MOST_SHARED_BYTES,
    NEWEST_ARCHITECTURE,
    Code,
    Kernel,
    MemoryCopy,
    Workload,
)
from lockstep.workload.warm import WarmSet

_MOST = {
    "registers": MOST_REGISTERS,
    "architecture": NEWEST_ARCHITECTURE,
    "shared_bytes": MOST_SHARED_BYTES,
}
_VOLTA = 70  # instructions have 16 bytes from here on, 8 before
Extent = int | tuple[int, ...]


class KernelBuilder:
    """Writes one kernel, instruction by instruction; loops stay loops, CTAs are made on demand.

    ``grid`` and ``block`` are a number or up to three. ``architecture`` is the SASS version
    (70 = Volta), ``warp_size`` the threads of a warp, 32 or 64. Address patterns are methods here;
    any function of a :class:`~lockstep.builder.patterns.Site` serves too.
    """

    coalesced = staticmethod(patterns.coalesced)
    strided = staticmethod(patterns.strided)
    broadcast = staticmethod(patterns.broadcast)
    random = staticmethod(patterns.random)
    pointer_chase = staticmethod(patterns.pointer_chase)
    bank_conflict = staticmethod(patterns.bank_conflict)
    tile = staticmethod(patterns.tile)
    below = staticmethod(patterns.below)

    def __init__(
        self,
        name: str,
        grid: Extent,
        block: Extent,
        *,
        registers: int = 32,
        shared_bytes: int = 0,
        architecture: int = 70,
        stream: int = 0,
        shared_base: int = 0,
        local_base: int = 0,
        cluster: Extent = 1,
        warp_size: int = WARP_SIZE,
    ):
        if warp_size not in WARP_SIZES:
            expected = " or ".join(map(str, WARP_SIZES))
            raise LockstepError(f"warp_size {warp_size!r}; expected {expected}")
        self.name, self.architecture = _checked_name(name), architecture
        self.warp_size = warp_size
        self.grid, self.block = _extent("grid", grid), _extent("block", block)
        if self._threads > MOST_THREADS:
            raise LockstepError(
                f"block {self.block}: {self._threads} threads; at most {MOST_THREADS}"
            )
        extent = _extent("cluster", cluster)
        needs = {
            "architecture": architecture,
            "registers": registers,
            "shared_bytes": shared_bytes,
            "stream": stream,
            "shared_base": shared_base,
            "local_base": local_base,
        }
        for what, value in needs.items():
            _check_need(what, value)
        self._make = partial(
            Kernel,
            registers=registers,
            shared_bytes=shared_bytes,
            stream=stream,
            shared_base=shared_base,
            local_base=local_base,
            cluster=extent,
        )
        self._code = Code()
        self._body: list[Segment | Loop] = []
        self._open = [self._body]  # the bodies of the loops that are being written
        self._blocks: tuple[DivergentRegion, ...] = ()
        self._last_block: DivergentRegion | None = None

    def __call__(
        self,
        text: str,
        *,
        address: Pattern | int | None = None,
        mask: Mask | None = None,
        wait: tuple[int, ...] = (),
        **control: Any,
    ) -> int:
        """Append one instruction; returns its static index.

        ``address`` says what a memory instruction accesses, ``mask`` the lanes whose predicate is
        true (with none, it still issues). ``stall``, ``yields``, ``write_barrier``,
        ``read_barrier`` and ``wait`` (numbers of the barriers waited for) are its control bits.
        """
        record, opcode = assembly.parse(
            text, self.architecture, self._pc(), True if address is not None else None
        )
        if record["width"][0] and address is None:
            raise LockstepError(f"{text}: accesses memory; pass address=")
        if address is not None:
            self._check_addressable(text, record[0])
        if wait or control:
            _set_control(text, record[0], wait, control)
        record["text"] = self._text(opcode)
        verify(record, self._code.texts, self.warp_size)
        index = self._code.extend(record)
        segment = self._segment(index, ALL if mask is None else self._checked(mask))
        segment.count += 1
        if address is not None:
            segment.accesses.append(_pattern(address))
        return index

    @contextmanager
    def loop(self, count: int | Callable[[Site], np.ndarray]) -> Iterator[None]:
        """Repeat what is written inside. A function of the site makes it differ by CTA, warp or
        lane (lanes that are through leave); it may not look at iterations of loops around.

        Raises :class:`LockstepError` for a negative number.
        """
        if not callable(count) and count < 0:
            raise LockstepError(f"loop count {count}; expected 0 or more")
        loop, depth = Loop(count), len(self._open) - 1
        before = self._blocks
        if callable(count):
            self._blocks += (DivergentRegion(_still_inside(count, depth), depth + 1),)
        self._open[-1].append(loop)
        self._open.append(loop.body)
        yield
        self._open.pop()
        self._blocks = before

    @contextmanager
    def lanes(self, mask: Mask) -> Iterator[None]:
        """A divergent branch: only these lanes go inside; a warp without any of them skips it."""
        block = DivergentRegion(self._checked(mask), len(self._open) - 1)
        with self._within(block):
            yield
        self._last_block = block

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """The other side of the branch that :meth:`lanes` has just ended.

        Raises :class:`LockstepError` where there is none.
        """
        if self._last_block is None or self._last_block.depth != len(self._open) - 1:
            raise LockstepError("otherwise() without a lanes() before it")
        with self._within(replace(self._last_block, negated=True)):
            yield

    @contextmanager
    def _within(self, block: DivergentRegion) -> Iterator[None]:
        before = self._blocks
        self._blocks += (block,)
        yield
        self._blocks = before

    def kernel(self, id: int = 1) -> Kernel:
        """The kernel; an EXIT is appended if it does not end with one."""
        if not len(self._code) or self._code.texts[self._code.instructions["text"][-1]] != "EXIT":
            self("EXIT")
        expansion = Expansion(self.grid, self._threads, deepcopy(self._body), self.warp_size)
        return self._make(
            id,
            self.name,
            self.grid,
            self.block,
            code=self._code,
            ctas=expansion.ctas,
            architecture=self.architecture,
            warp_size=self.warp_size,
        )

    def workload(self, *copies: MemoryCopy) -> Workload:
        """A workload of this kernel alone, after the given memory copies."""
        return program(*copies, self, name=self.name)

    @property
    def _threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    def _checked(self, mask: Mask) -> Mask:
        """A mask; one that has the last of 64 lanes as the negative number of the same bits."""
        if callable(mask):
            return mask
        if not 0 <= mask < 1 << self.warp_size:
            raise LockstepError(f"mask {mask:#x}; expected {self.warp_size} bits")
        mask = int(mask)
        return mask - (mask >> 63 << 64)

    def _pc(self) -> int:
        return len(self._code) * (16 if self.architecture >= _VOLTA else 8)

    def _text(self, opcode: str) -> int:
        if opcode not in self._code.texts:
            self._code.texts.append(opcode)
        return self._code.texts.index(opcode)

    def _segment(self, index: int, predicate: Mask) -> Segment:
        """The segment that instruction ``index`` belongs to: the last one, if the masks agree."""
        body = self._open[-1]
        last = body[-1] if body else None
        if isinstance(last, Segment) and (last.blocks, last.predicate) == (self._blocks, predicate):
            return last
        new = Segment(index, len(self._open) - 1, self._blocks, predicate)
        body.append(new)
        return new

    def _check_addressable(self, text: str, row) -> None:
        if row["op"] not in sass.MEMORY_CLASSES:
            raise LockstepError(f"{text}: has an address but accesses no memory")


def program(
    *commands: KernelBuilder | Kernel | MemoryCopy | Workload, name: str = "program"
) -> Workload:
    """A workload of kernels and memory copies in this order; kernels are numbered from 1 on."""
    listed: list[Kernel | MemoryCopy | WarmSet] = []
    for command in commands:
        if isinstance(command, KernelBuilder):
            command = command.kernel()
        listed += command.commands if isinstance(command, Workload) else [command]
    numbers = iter(range(1, len(listed) + 1))
    numbered = [replace(c, id=next(numbers)) if isinstance(c, Kernel) else c for c in listed]
    return Workload(_checked_name(name), numbered)


def _extent(what: str, value: Extent) -> tuple[int, int, int]:
    sizes = tuple(value) if isinstance(value, tuple | list) else (value,)
    if not 1 <= len(sizes) <= 3 or not all(isinstance(n, Integral) and n > 0 for n in sizes):
        raise LockstepError(f"{what} {value!r}; expected one to three positive integers")
    x, y, z = (*map(int, sizes), 1, 1)[:3]
    return x, y, z


def _check_need(what: str, value: int) -> None:
    most = _MOST.get(what, (1 << 63) - 1)
    if not (isinstance(value, Integral) and 0 <= value <= most):
        raise LockstepError(f"{what} {value!r}; expected an integer from 0 to {most}")


def _checked_name(name: str) -> str:
    if not isinstance(name, str) or any("\ud800" <= letter <= "\udfff" for letter in name):
        raise WorkloadError(f"name {name!a}; expected text without lone surrogates")
    return name


def _pattern(address: Pattern | int) -> Pattern:
    return address if callable(address) else patterns.broadcast(address)


def _still_inside(count: Callable[[Site], np.ndarray], depth: int) -> Mask:
    return lambda at: at.loops[depth] < count(replace(at, loops=()))


def _set_control(text: str, row, wait: tuple[int, ...], control: dict) -> None:
    """Keywords win over what the text says; bits that neither names are those of no dependence."""
    known = row["stall"] >= 0
    names = ("yields", "write_barrier", "read_barrier")
    bits = {n: row[n] for n in names} if known else dict.fromkeys(names, NO_BARRIER) | {"yields": 0}
    bits |= {"stall": row["stall"] if known else 1, "wait_mask": row["wait_mask"]}
    unknown = set(control) - set(bits)
    if unknown or any(not 0 <= b <= 5 for b in wait):
        raise LockstepError(
            f"{text}: control {sorted(unknown) or wait}; expected stall, yields,"
            " write_barrier, read_barrier, and barriers 0 to 5 in wait"
        )
    bits |= control
    bits["wait_mask"] |= sum(1 << b for b in set(wait))
    assembly.set_control(row, **bits)

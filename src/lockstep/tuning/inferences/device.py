"""What the driver says of the board: the row ``device.sms`` and its notes."""

import re
from collections.abc import Callable

from lockstep.gpus.check import MOST_WARPS
from lockstep.tuning.inference import Inference
from lockstep.tuning.measured import Absent, Measured

ROW = "device.sms"
PAIR = "sched.subcore_pair"
TOGETHER = 1.5  # times as long as alone, at least, for two warps that share a unit
KHZ = 1000  # in a MHz
BYTE = 8  # bits


def _note(pattern: str) -> Callable[[Measured], int]:
    """Reads the number that a word of the notes has."""

    def read(m: Measured) -> int:
        found = re.search(pattern, m.row(ROW).notes, re.ASCII)
        if not found or not 0 < int(found[1]) < 1 << 40:
            raise Absent(f"the notes of {ROW} do not say it")
        m.said = found[0]
        return int(found[1])

    return read


_core_khz = _note(r"\bclock (\d{1,12}) kHz")
_memory_khz = _note(r"\bmemory (\d{1,12}) kHz")
_shared_bytes = _note(r"\bsmem/SM (\d{1,12})\b")
_registers = _note(r"\bregs/SM (\d{1,12})\b")
_bus_bits = _note(r"\bbus (\d{1,12})\b")
_l2_bytes = _note(r"\bL2 (\d{1,12})\b")


def _bus(m: Measured) -> int:
    return _divided(_bus_bits(m), BYTE * m["dram.channels"], "bits of the bus")


def _sets(m: Measured) -> int:
    slices = m["dram.channels"] * m["l2.slices_per_channel"]
    return _divided(_l2_bytes(m), slices * m["l2.ways"] * m["l2.line_bytes"], "bytes of the L2")


def _divided(amount: int, parts: int, what: str) -> int:
    if amount % parts:
        raise Absent(f"{amount} {what} are no multiple of {parts}")
    return amount // parts


def _subcores(m: Measured) -> int:
    """Warps w and w + n share a unit that each sub-core has: the first n that takes longer."""
    found = (
        (re.fullmatch(r"warps 0 and (\d{1,3})", row.parameters), row) for row in m.rows.named(PAIR)
    )
    pairs = [(int(match[1]), m.positive(row, "cycles"), row) for match, row in found if match]
    alone = min((cycles for _, cycles, _ in pairs), default=0)
    sharing = [pair for pair in pairs if pair[1] > TOGETHER * alone]
    if not sharing:
        raise Absent(f"no row {PAIR} of two warps that share a sub-core")
    count, _, row = min(sharing, key=lambda pair: pair[0])
    m.row(PAIR, row.words)
    if m["sm.warps"] > MOST_WARPS * count:
        raise Absent(f"{row}: a sub-core is not for {m['sm.warps']} / {count} warps")
    return count


INFERENCES = (
    Inference("clock_mhz", lambda m: _core_khz(m) / KHZ, "the core clock"),
    Inference("sm.count", lambda m: round(m.get(ROW, "SMs"))),
    Inference("sm.subcores", _subcores, "the first warp that shares a sub-core with warp 0"),
    Inference("sm.registers", _registers, "registers of an SM"),
    Inference("shared.bytes", _shared_bytes, "shared memory of an SM"),
    Inference("dram.clock_mhz", lambda m: _memory_khz(m) / KHZ, "the memory clock"),
    Inference("dram.bus_bytes", _bus, "the bus divided by the channels"),
    Inference("l2.sets", _sets, "the capacity of the L2 divided by its slices and ways"),
)

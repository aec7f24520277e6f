"""The static instruction records of machine code, with the compiler's scheduling control bits."""

from collections.abc import Iterable, Sequence

import numpy as np

from lockstep.execution.sass.barrier import are_computed
from lockstep.execution.sass.barrier_objects import OBJECT_BYTES
from lockstep.execution.sass.texture import SAMPLERS, channels_of
from lockstep.isa.instruction import INSTRUCTION, OpClass, Space
from lockstep.isa.sass.encoding import Instruction, to_record
from lockstep.isa.sass.encoding.operand import Immediate

_GLOBAL, _ELSEWHERE = (Space.GLOBAL, OBJECT_BYTES), (Space.NONE, 0)
_CLASSES = {  # by mnemonic and modifiers; the tables have those of traces, which know fewer
    "UTMALDG": (OpClass.TILE_COPY, *_GLOBAL), "UTMASTG": (OpClass.TILE_STORE, *_GLOBAL),
    "UTMAREDG": (OpClass.TILE_STORE, *_GLOBAL), "UBLKCP.S.G": (OpClass.TILE_COPY, *_GLOBAL),
    "UBLKCP.G.S": (OpClass.TILE_STORE, *_GLOBAL), "UBLKRED.G.S": (OpClass.TILE_STORE, *_GLOBAL),
    "UBLKCP.S.S": (OpClass.BULK_COPY, Space.GENERIC, OBJECT_BYTES),
    "UBLKRED.S.S": (OpClass.BULK_COPY, Space.GENERIC, OBJECT_BYTES),
    "UTMAPF": (OpClass.CACHE_CONTROL, *_ELSEWHERE), "UBLKPF": (OpClass.CACHE_CONTROL, *_ELSEWHERE),
    "SYNCS.PHASECHK": (OpClass.OBJECT_WAIT, Space.SHARED, OBJECT_BYTES),
}  # fmt: skip
_SPECIAL = {OpClass.CACHE_CONTROL, OpClass.SLEEP, OpClass.BARRIER, OpClass.ARRIVE}


def static_code(code: Sequence[Instruction], architecture: int) -> tuple[np.ndarray, list[str]]:
    """INSTRUCTION records, one an instruction, and the display texts that they refer to."""
    numbers: dict[str, int] = {}
    records = np.zeros(len(code), INSTRUCTION)
    for k, instruction in enumerate(code):
        record = to_record(instruction, architecture)
        if instruction.mnemonic in SAMPLERS:  # traces have no addresses of these; here they do
            record["width"] = 4 * channels_of(instruction).bit_count()
        words = (instruction.mnemonic, *instruction.modifiers[:2])
        for known in (_CLASSES.get(".".join(words[:count])) for count in (1, 2, 3)):
            if known is not None:
                record["op"], record["space"], record["width"] = known
        if instruction.mnemonic in ("STAS", "REDAS"):
            record["space"] = Space.GENERIC  # the address tells which CTA's
        op = record["op"].item()
        if op in _SPECIAL:
            _adapt(record, op, instruction)
        record["text"] = numbers.setdefault(instruction.opcode, len(numbers))
        records[k] = record[0]
    return records, list(numbers)


def _adapt(record: np.ndarray, op: int, instruction: Instruction) -> None:
    """What the record of one of a special class says of addresses and operands."""
    if op == OpClass.CACHE_CONTROL:
        record["width"] = 0  # prefetches and the like do nothing, and leave no address
    elif op == OpClass.SLEEP and "SYNCS" in instruction.modifiers:
        record["immediate"] = 0  # a barrier object ends it
    elif op == OpClass.SLEEP and not isinstance(instruction.operands[-1], Immediate):
        record["width"] = 4  # the time is kept as an address is
    elif op in (OpClass.BARRIER, OpClass.ARRIVE) and are_computed(instruction):
        record["width"] = 4  # ... and so is which barrier it is


def joined(parts: Iterable[tuple[np.ndarray, list[str]]]) -> tuple[np.ndarray, list[str]]:
    """The same of several pieces of code, one after the other."""
    numbers: dict[str, int] = {}
    found = []
    for records, texts in parts:
        places = np.array([numbers.setdefault(text, len(numbers)) for text in texts])
        found.append(records.copy())
        found[-1]["text"] = places[records["text"]]
    return np.concatenate(found), list(numbers)

"""No word and no operand of an instruction is passed over: what differs in the disassembly differs
in what is emitted, or is refused.

One bit after the other of NVIDIA's sample instructions is inverted. Where the decoder then reads
something else, the instruction by itself must not become the same code.
"""

from pathlib import Path

import pytest
import zstandard
from msgspec.structs import replace

import lockstep
from lockstep.errors import LockstepError
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.programs import kept, translation
from lockstep.execution.programs.program import Recording
from lockstep.execution.sass import translate
from lockstep.execution.sass.opcodes import problem
from lockstep.isa.sass.encoding.decoder import decode

SAMPLES = Path(__file__).parents[2] / "isa" / "sass" / "encoding" / "nvdisasm"
CODE = Path(__file__).parents[2] / "device" / "cubins" / "shared.sm_80.cubin"
FIRST, END = 64, 105  # bits of words and operands beside registers; control bits follow
_ENDS = "BAR BRA BRX BSSY BSYNC CALL ENDCOLLECTIVE EXIT RET WARPGROUP WARPSYNC YIELD"  # of blocks
_REST = "BPT CCTL ERRBAR FENCE MEMBAR NANOSLEEP UBLKPF UTMACCTL UTMAPF"  # order, time and caches
SCHEDULED = {*_ENDS.split(), *_REST.split()}
"""Instructions whose words the scheduler or nobody asks for."""
OPERANDS = "operands"  # some differ
NEVER = {"!PT", "!UPT"}
SAME = {
    "B2R": {"RESULT", OPERANDS},  # there is one result
    "BMMA": {"POPC", OPERANDS},  # one layout, and sums: none else is known
    "BMOV": {"PQUAD"},
    "CS2R": {
        "32",
        OPERANDS,
    },  # counters of the profiler are zero, upper halves of clocks a register
    "ELECT": {OPERANDS},  # another file for PT
    "F2F": {"RM", "RP", "RZ"},  # of what is exact
    "F2FP": {"PACK_B", "UNPACK_B", OPERANDS},  # other words tell which half
    "FSETP": {OPERANDS},  # both results in one register
    "HMMA": {"STEP0", "STEP1", "STEP2", "STEP3", OPERANDS},  # registers tell the step; no signs
    "I2F": {"RM", "RP", "RZ"},
    "I2IP": {"SAT", OPERANDS},  # saturates always; only narrow numbers have a third source
    "IMAD": {"MOV", "SHL", "U32", "IADD"},  # the low half has no sign
    "IMMA": {OPERANDS},  # one layout: none else is known
    "ISETP": {"U32", OPERANDS},  # equality has no sign; both results in one register
    "LOP3": {"PAND", OPERANDS},  # the predicate is for a predicate result
    "MUFU": {"F16", "BF16"},  # of upper halves of doubles
    "PLOP3": {OPERANDS},  # PT of either file
    "QSPC": {"D", "E", "G", "L", "S"},
    "REDUX": {"S32"},  # bits have no sign
    "SHF": {"S32", "S64", "U32", "U64"},  # to the left there is no sign
    "UIMAD": {"U32"},
    "UISETP": {"U32"},
    "ULOP3": {"PAND", OPERANDS},
    "USHF": {"S32", "S64", "U32", "U64"},
}
"""By mnemonic, what may be passed over."""


class Compared(Exception):
    """Ends a translation."""


def samples(architecture):
    packed = (SAMPLES / f"sm_{architecture}.txt.zst").read_bytes()
    for line in zstandard.ZstdDecompressor().decompress(packed).decode().splitlines():
        word, pc, _ = line.split(" ", 2)
        yield int(word, 16), int(pc, 16)


def shown(instruction):
    return f"{instruction.opcode} {', '.join(o.text() for o in instruction.operands)}"


def differences(one, other):
    """Words that only one of two instructions has, and whether operands differ.

    Carries that never come (``X`` with the predicate that never holds) are none.
    """
    words = set(one.modifiers) ^ set(other.modifiers)
    short, long = sorted(([o.text() for o in i.operands] for i in (one, other)), key=len)
    further = long[len(short) :]
    if "X" in words and long[: len(short)] == short and set(further) <= NEVER:
        return words - {"X"}
    return words | ({OPERANDS} if one.operands != other.operands else set())


def shape(instruction):
    operands = [
        (type(o), getattr(o, "file", ""), getattr(o, "part", "")) for o in instruction.operands
    ]
    return instruction.mnemonic, instruction.modifiers, *operands


def emitted(translation, block, instruction):
    """What an instruction by itself becomes, with what it writes; None if it is refused."""
    module = translation._module()
    lift = translation.open(block, LaneBuilder(module, "alone"), None)
    lift.number, lift.instruction, lift.to_come = block.first, instruction, 1
    lift.counted = lift.touches = None
    try:
        translation._lift(lift, instruction)
    except LockstepError:
        return None
    return str(module) + str([(name, str(lift._values[name].ir)) for name in lift.written])


def pairs(architecture):
    """Instructions, and what they are with a bit inverted that changes what is disassembled."""
    shapes, seen = set(), set()
    for word, pc in samples(architecture):
        given = replace(decode(word, architecture, pc), guard=None)
        if given.mnemonic in SCHEDULED or shape(given) in shapes or problem(given):
            continue
        shapes.add(shape(given))
        for bit in range(FIRST, END):
            other = replace(decode(word ^ 1 << bit, architecture, pc), guard=None)
            known = other.is_known and other.mnemonic == given.mnemonic and not problem(other)
            kind = (bit, shape(given)[:2], shape(other)[1:])
            if known and shown(other) != shown(given) and kind not in seen:
                seen.add(kind)
                yield given, other


@pytest.fixture
def passed_over(monkeypatch):
    """Those that become the same code and must not, as texts; how many were compared."""

    def look(architecture):
        same, count, before = [], 0, (None, None)

        def program(self):
            nonlocal count, before
            block = self.blocks[0]
            for given, other in pairs(architecture):
                if before[0] is not given:
                    before = given, emitted(self, block, given)
                if before[1] is not None:
                    count += 1
                    allowed = differences(given, other) <= SAME.get(given.mnemonic, set())
                    if not allowed and emitted(self, block, other) == before[1]:
                        same.append(f"{shown(given)} as {shown(other)}")
            raise Compared

        monkeypatch.setattr(translation.Translation, "program", program)
        monkeypatch.setattr(kept, "program", lambda key, make: make())
        monkeypatch.setattr(translate, "_registers", lambda section, code: 254)
        with lockstep.Device("H100", timing=False) as device:
            module = device.load_cubin(CODE)
            with pytest.raises(Compared):
                module[next(iter(module.entries))].translate(Recording(0))
        return same, count

    return look


@pytest.mark.long
@pytest.mark.parametrize("architecture", [75, 80, 90])
def test_nothing_is_passed_over(passed_over, architecture):
    same, count = passed_over(architecture)
    assert not same, "\n".join(same)
    assert count > 1500

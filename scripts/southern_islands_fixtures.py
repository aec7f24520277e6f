"""Asks LLVM's assembler for every opcode of Southern Islands, and keeps its answers for the tests.

``python scripts/southern_islands_fixtures.py`` writes ``tests/isa/gcn/assembled.txt``. It needs
``llvm-mc`` with the AMDGPU target (``apt install llvm``; the file was made with LLVM 14). For each
opcode of the tables there are several texts with operands of several kinds; the assembler says
which bytes they are. What it refuses is told, and is a mistake of the tables, but for ``UNKNOWN``.
"""

import argparse
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from lockstep.isa.gcn.decode import decode_one
from lockstep.isa.gcn.instruction import LITERAL, Format
from lockstep.isa.gcn.layout import FORMATS, LAYOUTS
from lockstep.isa.gcn.operations import OPERATIONS, OperandField, Operation
from lockstep.isa.gcn.spelling import spell

FIXTURES = Path(__file__).parents[1] / "tests/isa/gcn/assembled.txt"
ASSEMBLER = ("llvm-mc", "-arch=amdgcn", "-mcpu=tahiti", "-show-encoding")
SAMPLES = {Format.VOPC: 1}  # texts of an opcode, if not 3: those of comparisons are much alike
SCALARS = ("vcc", "exec", "register", "register", "integer", "float")
SIGNED = ("f32", "f64")
# Long encodings that AMD's manual has and LLVM has not.
UNKNOWN = ("v_readlane_b32", "v_writelane_b32", "v_readfirstlane_b32")
LONG = (Format.VOP3A, Format.VOP3B)
FLAGS = {
    Format.DS: (),
    Format.MUBUF: ("glc", "idxen", "offen", "slc"),
    Format.MTBUF: ("glc", "idxen", "offen", "slc"),
    Format.MIMG: ("unorm", "glc", "slc", "lwe", "da"),
    Format.EXP: ("vm", "done"),
}


def main() -> int:
    """Write the file; 1 if the assembler refuses something or reads it differently."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=FIXTURES, help="the file [%(default)s]")
    output = parser.parse_args().output
    random.seed(1)
    known = [o for o in OPERATIONS.values() if o.format not in LONG or o.name not in UNKNOWN]
    words = [word for operation in known for word in examples(operation)]
    made = dict.fromkeys(word.to_bytes(size, "little") for word, size in words)
    texts = [spell(decode_one(code, 0)) for code in made]
    lines, wrong = [], 0
    for code, text, answer in zip(made, texts, assemble(texts)):
        if answer != code:
            print(f"{text}: {code.hex()}, but the assembler says {answer and answer.hex()}")
            wrong += 1
        else:
            lines.append(f"{code.hex()} {text}\n")
    output.write_text("".join(lines))
    print(f"{len(known)} opcodes, {len(lines)} texts, {wrong} read differently")
    return bool(wrong)


def assemble(texts: list[str]) -> list[bytes | None]:
    """The bytes of each text, None where it is refused."""
    source = "".join(f"L{k}:\n{text}\n" for k, text in enumerate(texts))
    done = subprocess.run(
        ASSEMBLER, input=source, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
    )
    found: list[bytes | None] = [None] * len(texts)
    current = 0
    for line in done.stdout.splitlines():
        if match := re.match(r"L(\d+):", line):
            current = int(match[1])
        elif match := re.search(r"encoding: \[([0-9a-fx,]+)\]", line):
            found[current] = bytes(int(byte, 16) for byte in match[1].split(","))
    return found


def examples(operation: Operation) -> Iterator[tuple[int, int]]:
    """Words of an opcode, with literals behind them, and their sizes in bytes."""
    for sample in range(SAMPLES.get(operation.format, 3)):
        fields = dict(values(operation, sample))
        literal = LITERAL in (fields.get(f) for f in ("src0", "ssrc0", "ssrc1"))
        literal |= any(operand.type == "literal" for operand in operation.sources)
        layout = LAYOUTS[operation.format]
        shift, _ = layout.opcode
        word = prefix(operation.format) | operation.opcode << shift
        for name, place, mask in layout.fields:
            word |= (fields.get(name, 0) & mask) << place
        size = 4 * layout.words
        if literal:
            word, size = word | random.getrandbits(31) << 32 | 1 << 62, 8
        yield word, size


def prefix(format: Format) -> int:
    """The bits that say what format a word has."""
    wanted = Format.VOP3A if format is Format.VOP3B else format
    return FORMATS.index(wanted) << 23


def values(operation: Operation, sample: int) -> Iterator[tuple[str, int]]:
    """Fields that the opcode uses, with values that may stand together."""
    format = operation.format
    for operand in operation.results:
        yield operand.field, destination(operand, format)
    vector = format in (Format.VOP1, Format.VOP2, Format.VOPC, *LONG)
    for operand in operation.sources:
        if any(operand.field == result.field for result in operation.results):
            continue
        if vector:
            yield operand.field, vector_source(operand, operation, sample)
        else:
            yield from source(operand, operation, sample)
    yield from modifiers(operation, sample)


def destination(operand: OperandField, format: Format) -> int:
    """A register that can be written."""
    if operand.field in ("vdst", "vdata") and not operand.scalar:
        return random.randrange(200)
    if operand.type == "mask" or operand.dwords == 2:
        return random.choice((2 * random.randrange(50), 106))
    return 4 * random.randrange(20) if operand.dwords > 1 else random.randrange(104)


def vector_source(operand: OperandField, operation: Operation, sample: int) -> int:
    """A source of a vector instruction; at most one of them is scalar."""
    first = operand is operation.sources[0]
    if operand.scalar:
        return lane(operand, first)
    if operand.field == "vsrc1":
        return random.randrange(200)
    # LLVM thinks that constants of half precision have 16 bits, and lanes are of registers.
    vector = operation.name.startswith(
        ("v_readlane", "v_readfirstlane", "v_movrel", "v_cvt_f32_f16")
    )
    if not first or sample == 0 or vector or "vcc" in operation.reads:
        return 256 + random.randrange(200)
    if any(other.scalar for other in operation.sources):
        return random.choice((128 + random.randrange(65), 256 + random.randrange(200)))
    if any(other.type == "literal" for other in operation.sources):
        return random.choice((128 + random.randrange(65), 240 + random.randrange(8)))
    if sample == 1 and operand.dwords == 1 and operation.format not in LONG:
        return LITERAL
    return scalar_source(operand)


def lane(operand: OperandField, first: bool) -> int:
    """A source of a vector instruction that is a scalar."""
    if operand.type == "mask":
        return 2 * random.randrange(50)
    if operand.field == "vsrc1" and not first:
        return random.randrange(129, 192)
    return random.randrange(104)


def scalar_source(operand: OperandField) -> int:
    """A scalar register or a constant without a literal."""
    match random.choice(SCALARS):
        case "vcc":
            return 106
        case "exec":
            return 126
        case "integer":
            return random.randrange(128, 209)
        case "float":
            return 240 + random.randrange(8)
    return 2 * random.randrange(50)


def source(operand: OperandField, operation: Operation, sample: int) -> Iterator[tuple[str, int]]:
    """A source of another instruction, which may be more than one field."""
    match operand.field:
        case "simm16":
            yield "simm16", 0x0F7F if operand.type == "wait" else random.getrandbits(16)
        case "ssrc0" | "ssrc1":
            registers = operation.name.startswith(("s_movrels", "s_setpc", "s_rfe", "s_cbranch_"))
            literal = sample == 1 and operand.field == "ssrc0" and operand.dwords == 1
            if registers:
                yield operand.field, 2 * random.randrange(50)
            else:
                yield operand.field, LITERAL if literal else scalar_source(operand)
        case "sdst":
            yield "sdst", 2 * random.randrange(50)
        case "sbase":
            yield "sbase", 2 * random.randrange(24)
        case "offset":
            yield "imm", sample % 2
            yield "offset", random.randrange(256 if sample % 2 else 104)
        case "ssamp":
            yield "ssamp", random.randrange(25)
        case "target":
            yield "target", random.choice((0, 7, 8, 9, 12, 15, 32, 63))
        case "attribute":
            yield "attribute", random.randrange(33)
            yield "channel", random.randrange(4)
        case "vsrc":
            yield "vsrc", random.randrange(3 if operand.type == "parameter" else 256)
        case "literal":
            pass
        case _:
            yield operand.field, random.randrange(200)


def modifiers(operation: Operation, sample: int) -> Iterator[tuple[str, int]]:
    """What changes an instruction without being an operand."""
    format = operation.format
    buffer = format in (Format.MUBUF, Format.MTBUF)
    if format in LONG and sample == 2:
        floats = [
            k
            for k, operand in enumerate(operation.sources)
            if operand.type in SIGNED and operand.field != "vdst"
        ]
        chosen = sum(1 << k for k in floats if random.random() < 0.6)
        yield "neg", chosen
        if format is Format.VOP3A:
            yield "abs", sum(1 << k for k in floats if random.random() < 0.4)
        if operation.results and operation.results[0].type in SIGNED and floats:
            yield "omod", random.randrange(4)
            if format is Format.VOP3A:
                yield "clamp", random.randrange(2)
    if format is Format.DS:
        yield "gds", int(operation.gds or sample == 2)
        if operation.name not in GWS:
            yield "offset0", random.randrange(256)
            yield "offset1", random.randrange(256)
    if buffer and not operation.name.startswith("buffer_wb"):
        yield "offset", random.randrange(4096)
        yield "srsrc", random.randrange(25)
        yield "soffset", random.choice((128, 5, 124))
    if format is Format.MTBUF:
        yield "dfmt", random.randrange(1, 15)
        yield "nfmt", random.choice((0, 1, 4, 7))
    if format in (Format.MUBUF, Format.MTBUF, Format.MIMG, Format.EXP):
        if operation.name.startswith("buffer_wb"):
            return
        flags = {name: random.randrange(2) for name in FLAGS[format]}
        yield from flags.items()
        if flags.get("idxen") or flags.get("offen") or format is Format.MIMG:
            yield "vaddr", random.randrange(200)
    if format is Format.MIMG:
        yield "srsrc", 2 * random.randrange(12)
        yield "dmask", dmask(operation.name)
    if format is Format.EXP:
        yield "enable", 15
        yield from ((f"vsrc{k}", random.randrange(256)) for k in range(4))


GWS = ("ds_gws_sema_v", "ds_gws_sema_p", "ds_gws_sema_br", "ds_gws_init", "ds_gws_barrier")


def dmask(name: str) -> int:
    """Channels that an image instruction may have."""
    if "cmpswap" in name:
        return 3
    return 1 if "atomic" in name or "gather4" in name else random.randrange(1, 16)


if __name__ == "__main__":
    sys.exit(main())

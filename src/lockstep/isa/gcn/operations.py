"""What each opcode is called, reads and writes: ``tables/*.txt``, one line an opcode.

``OPERATIONS`` holds the opcodes of all formats. The short vector encodings come once more under
VOP3A and VOP3B, where their implicit mask in VCC is an operand like the others.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files

from lockstep.isa.gcn.instruction import Format

VOP3B_OPCODES = frozenset((*range(293, 299), 365, 366))
_TABLES = ("scalar.txt", "vector.txt", "memory.txt")
_DWORDS = {"i32": 1, "i64": 2, "f32": 1, "f64": 2, "mask": 2}
_DWORDS |= {f"b{bits}": bits // 32 for bits in (64, 96, 128, 256, 512)}
_SHORT = {Format.VOPC: 0, Format.VOP2: 256, Format.VOP1: 384}  # what VOP3 adds to the opcode
_RESULTS = {
    Format.SOP2: ("sdst",),
    Format.SOPK: ("sdst",),
    Format.SOP1: ("sdst",),
    Format.SMRD: ("sdst",),
    Format.VOP3B: ("vdst", "sdst"),
    Format.MUBUF: ("vdata",),
    Format.MTBUF: ("vdata",),
    Format.MIMG: ("vdata",),
}
_SOURCES = {
    Format.SOP2: ("ssrc0", "ssrc1"),
    Format.SOP1: ("ssrc0",),
    Format.SOPC: ("ssrc0", "ssrc1"),
    Format.VOP1: ("src0",),
    Format.VOP2: ("src0", "vsrc1"),
    Format.VOPC: ("src0", "vsrc1"),
    Format.VOP3A: ("src0", "src1", "src2"),
    Format.VOP3B: ("src0", "src1", "src2"),
    Format.VINTRP: ("vsrc",),
    Format.DS: ("data0", "data1"),
    Format.MUBUF: ("vdata",),
    Format.MTBUF: ("vdata",),
    Format.MIMG: ("vdata",),
}
_WORDS = {  # operands that are no values of 32 bits or more, and their fields
    "imm": "simm16",
    "target": "simm16",
    "wait": "simm16",
    "message": "simm16",
    "hwreg": "simm16",
    "literal": "literal",
    "addr": "addr",
    "attribute": "attribute",
    "parameter": "vsrc",
    "sampler": "ssamp",
    "export": "target",
}


@dataclass(frozen=True, slots=True)
class OperandField:
    """One result or source.

    ``field`` is where it is encoded, or ``"vcc"`` or ``"literal"``. ``type`` is i32, i64, f32, f64,
    mask (a bit for each lane, in two scalar registers), b64 to b512 (so many bits), texel (as many
    dwords as bits of ``dmask``), or what else a field says, such as target. ``scalar`` marks those
    operands of vector instructions that are scalar registers.
    """

    field: str
    type: str
    scalar: bool = False

    @property
    def dwords(self) -> int:
        """Registers of 32 bits; 0 where the type does not tell."""
        return _DWORDS.get(self.type, 1 if self.type == "addr" else 0)


@dataclass(frozen=True, slots=True)
class Operation:
    """One opcode: its mnemonic, its operands, and the registers it uses without naming them.

    ``reads`` and ``writes`` are of vcc, scc, exec, m0; that vector and memory instructions heed
    EXEC is not said. ``pair`` is true where DS has two offsets, ``gds`` where there is no such
    operation on LDS. Buffer and image atomics write their result only with ``glc``.
    """

    format: Format
    opcode: int
    name: str
    results: tuple[OperandField, ...] = ()
    sources: tuple[OperandField, ...] = ()
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    pair: bool = False
    gds: bool = False


def _operations() -> dict[tuple[Format, int], Operation]:
    found: dict[tuple[Format, int], Operation] = {}
    for table in _TABLES:
        section = ""
        text = files("lockstep.isa.gcn").joinpath("tables", table).read_text(encoding="utf-8")
        for line in text.splitlines():
            if line.startswith("["):
                section = line.strip("[]")
            elif line and not line.startswith("#"):
                for operation in _line(section, line):
                    found[operation.format, operation.opcode] = operation
    return found


def _line(section: str, line: str) -> Iterator[Operation]:
    """The operations of one line, and their long encodings."""
    line, _, conditions = line.partition(" : ")
    code, name, *words = line.split()
    names = [name.replace("*", word) for word in conditions.split()] or [name]
    for opcode, each in enumerate(names, int(code)):
        if section == "VOP3":
            yield _operation(_vop3(opcode), opcode, each, words)
            continue
        format = Format[section]
        yield _operation(format, opcode, each, words)
        if format in _SHORT and "literal" not in words:
            long = opcode + _SHORT[format]
            yield _operation(_vop3(long), long, each, words)


def _vop3(opcode: int) -> Format:
    return Format.VOP3B if opcode in VOP3B_OPCODES else Format.VOP3A


def _operation(format: Format, opcode: int, name: str, words: list[str]) -> Operation:
    equals = words.index("=")
    end = next((k for k, w in enumerate(words) if w in ("reads", "writes", "pair", "gds")), None)
    used: dict[str, set[str]] = {"reads": set(), "writes": set()}
    flags = words[end:] if end is not None else []
    kind = ""
    for word in flags:
        if word in used:
            kind = word
        elif word not in ("pair", "gds"):
            used[kind].add(word)
    results = _operands(words[:equals], _RESULTS.get(format, ("vdst",)), format)
    sources = _operands(words[equals + 1 : end], _SOURCES.get(format, ()), format)
    reads, writes = frozenset(used["reads"]), frozenset(used["writes"])
    pair, gds = "pair" in flags, "gds" in flags
    return Operation(format, opcode, name, results, sources, reads, writes, pair, gds)


def _operands(
    words: list[str], fields: tuple[str, ...], format: Format
) -> tuple[OperandField, ...]:
    """Operands of the words of a table, which take the format's fields in turn."""
    rest, found = iter(fields), []
    for word in words:
        kind, _, field = word.partition("@")
        scalar, kind = kind.startswith("s."), kind.removeprefix("s.")
        if kind == "vcc":
            field = next(rest) if format in (Format.VOP3A, Format.VOP3B) else "vcc"
            found.append(OperandField(field, "mask", True))
        else:
            found.append(OperandField(field or _WORDS.get(kind) or next(rest), kind, scalar))
    return tuple(found)


OPERATIONS: Mapping[tuple[Format, int], Operation] = _operations()

"""Instructions as text, in the syntax of LLVM's assembler for Tahiti, which reads it back."""

from collections.abc import Callable, Iterator, Mapping

from lockstep.isa.gcn.instruction import LITERAL, Format, Instruction
from lockstep.isa.gcn.operations import OPERATIONS, OperandField, Operation
from lockstep.isa.gcn.registers import VECTORS, is_constant, scalar, vector

WAITS = (("vmcnt", 0, 15), ("expcnt", 4, 7), ("lgkmcnt", 8, 31))  # name, shift, largest value
_ASSEMBLED_WAITS = 0xF7F  # the bits of which LLVM knows the meaning: four for lgkmcnt
_TARGETS = {8: "mrtz", 9: "null"}
_TARGETS |= {k: f"mrt{k}" for k in range(8)} | {12 + k: f"pos{k}" for k in range(4)}
_TARGETS |= {32 + k: f"param{k}" for k in range(32)}
_OUTPUT = ("", " mul:2", " mul:4", " div:2")
_SHORT = (Format.VOP1, Format.VOP2, Format.VOPC)
_LONG = (Format.VOP3A, Format.VOP3B)
_FIRST_LONG, _PAST_LONG = 320, 384  # opcodes that only VOP3 has
_UNMARKED = {"v_readfirstlane_b32", "v_readlane_b32", "v_writelane_b32", "v_madmk_f32"}
_UNMARKED |= {"v_madak_f32"}
IMAGE_ADDRESSES = 4  # registers of an address that are printed: the encoding does not say how many


def spell(instruction: Instruction, label: str | None = None) -> str:
    """The instruction as text; ``label`` is what its branch target is called, if it has one."""
    operation = OPERATIONS[instruction.format, instruction.opcode]
    special = _SPECIAL.get(instruction.format)
    if special:
        return special(instruction, operation)
    parts = list(_operands(instruction, operation, label))
    text = f"{instruction.name}{_suffix(instruction)} {', '.join(parts)}".rstrip()
    if instruction.format in _LONG:
        text += " clamp" if instruction.fields.get("clamp") else ""
        text += _OUTPUT[instruction.fields["omod"]]
    return text


def _suffix(instruction: Instruction) -> str:
    """What tells the assembler which of two encodings is meant."""
    if instruction.format in _SHORT:
        return "" if instruction.name in _UNMARKED else "_e32"
    only = _FIRST_LONG <= instruction.opcode < _PAST_LONG
    return "_e64" if instruction.format in _LONG and not only else ""


def _operands(
    instruction: Instruction, operation: Operation, label: str | None = None
) -> Iterator[str]:
    """Results, then sources; what is read and written is there once."""
    written = {operand.field for operand in operation.results if operand.field != "vcc"}
    for operand in operation.results:
        yield _register(instruction, operand)
    for operand in operation.sources:
        if operand.field in written:
            continue
        if operand.type in _WORDS:
            yield label or _WORDS[operand.type](instruction)
        else:
            yield _modified(instruction, operand)


def _register(instruction: Instruction, operand: OperandField) -> str:
    """A result, or a source without signs."""
    dwords, field = operand.dwords, operand.field
    if field == "vcc":
        return "vcc"
    code = instruction.fields[field]
    if field == "sbase":
        return scalar(2 * code, dwords)
    if code == LITERAL and (field.startswith("src") or field.startswith("ssrc")):
        return _literal(instruction)
    if field.startswith("src") and code >= VECTORS:
        return vector(code - VECTORS, dwords)
    if field.startswith(("v", "data", "addr")) and not operand.scalar:
        return vector(code, dwords)
    return scalar(code, dwords)


def _modified(instruction: Instruction, operand: OperandField) -> str:
    """A source with the signs that VOP3 gives it."""
    text = _register(instruction, operand)
    if operand.field not in ("src0", "src1", "src2") or instruction.format not in _LONG:
        return text
    bit = 1 << int(operand.field[-1])
    if instruction.fields.get("abs", 0) & bit:
        text = f"|{text}|"
    if instruction.fields["neg"] & bit:
        text = f"neg({text})" if is_constant(instruction.fields[operand.field]) else f"-{text}"
    return text


def _literal(instruction: Instruction) -> str:
    return f"{instruction.literal or 0:#x}"


def _immediate(instruction: Instruction) -> str:
    return f"{instruction.fields['simm16']:#x}"


def _hardware(instruction: Instruction) -> str:
    bits = instruction.fields["simm16"]
    return f"hwreg({bits & 63}, {bits >> 6 & 31}, {(bits >> 11) + 1})"


def _wait(instruction: Instruction) -> str:
    """Counters by name where LLVM has the same bits, else the number."""
    bits = instruction.fields["simm16"]
    if bits & ~_ASSEMBLED_WAITS:
        return f"{bits:#x}"
    return waits(bits, 15) or f"{bits:#x}"


def waits(bits: int, most: int = 31) -> str:
    """The counters that ``s_waitcnt`` waits for; ``most`` is the largest lgkmcnt."""
    limits = [(name, bits >> shift & limit, limit) for name, shift, limit in WAITS[:2]]
    limits.append(("lgkmcnt", bits >> WAITS[2][1] & most, most))
    return " ".join(f"{name}({value})" for name, value, limit in limits if value != limit)


def _attribute(instruction: Instruction) -> str:
    fields = instruction.fields
    return f"attr{fields['attribute']}.{'xyzw'[fields['channel']]}"


def _parameter(instruction: Instruction) -> str:
    code = instruction.fields["vsrc"]
    return ("p10", "p20", "p0")[code] if code < 3 else f"invalid_param_{code}"


_WORDS: dict[str, Callable[[Instruction], str]] = {
    "imm": _immediate,
    "target": _immediate,
    "message": _immediate,
    "wait": _wait,
    "hwreg": _hardware,
    "literal": _literal,
    "attribute": _attribute,
    "parameter": _parameter,
}


def _flags(fields: Mapping[str, int], names: str) -> str:
    return "".join(f" {name}" for name in names.split() if fields.get(name))


def _scalar_memory(instruction: Instruction, operation: Operation) -> str:
    parts = [_register(instruction, operand) for operand in operation.results]
    if operation.sources:
        parts.append(_register(instruction, operation.sources[0]))
        offset = instruction.fields["offset"]
        parts.append(f"{offset:#x}" if instruction.fields["imm"] else scalar(offset, 1))
    return f"{instruction.name} {', '.join(parts)}".rstrip()


def _lds(instruction: Instruction, operation: Operation) -> str:
    fields = instruction.fields
    text = f"{instruction.name} {', '.join(_operands(instruction, operation))}".rstrip()
    if operation.pair:
        for name in ("offset0", "offset1"):
            text += f" {name}:{fields[name]}" if fields[name] else ""
    elif offset := fields["offset0"] | fields["offset1"] << 8:
        text += f" offset:{offset}"
    return text + _flags(fields, "gds")


def _buffer(instruction: Instruction, operation: Operation) -> str:
    fields, operands = instruction.fields, operation.sources or operation.results
    if not operands:
        return instruction.name
    parts = []
    if not fields.get("lds"):
        parts.append(vector(fields["vdata"], operands[0].dwords + fields["tfe"]))
    double = fields.get("addr64") or (fields["idxen"] and fields["offen"])
    addressed = double or fields["idxen"] or fields["offen"]
    parts.append(vector(fields["vaddr"], 2 if double else 1) if addressed else "off")
    parts.append(scalar(4 * fields["srsrc"], 4))
    if instruction.format is Format.MTBUF:
        parts.append(f"dfmt:{fields['dfmt']}, nfmt:{fields['nfmt']}")
    parts.append(scalar(fields["soffset"], 1))
    text = f"{instruction.name} {', '.join(parts)}" + _flags(fields, "idxen offen addr64")
    text += f" offset:{fields['offset']}" if fields["offset"] else ""
    return text + _flags(fields, "glc slc tfe lds")


def _image(instruction: Instruction, operation: Operation) -> str:
    fields, operands = instruction.fields, operation.results + operation.sources
    dwords = operands[0].dwords or max(1, fields["dmask"].bit_count())
    parts = [
        vector(fields["vdata"], dwords + fields["tfe"]),
        vector(fields["vaddr"], IMAGE_ADDRESSES),
        scalar(4 * fields["srsrc"], 4 if fields["r128"] else 8),
    ]
    if operands[-1].type == "sampler":
        parts.append(scalar(4 * fields["ssamp"], 4))
    text = f"{instruction.name} {', '.join(parts)}"
    text += f" dmask:{fields['dmask']:#x}" if fields["dmask"] else ""
    return text + _flags(fields, "unorm glc slc r128 tfe lwe da")


def _export(instruction: Instruction, operation: Operation) -> str:
    fields = instruction.fields
    target = fields["target"]
    name = _TARGETS.get(target, f"invalid_target_{target}")
    parts = []
    for k in range(4):
        source = f"vsrc{k // 2 if fields['compr'] else k}"
        parts.append(f"v{fields[source]}" if fields["enable"] >> k & 1 else "off")
    return f"{operation.name} {name} {', '.join(parts)}" + _flags(fields, "done compr vm")


_SPECIAL: dict[Format, Callable[[Instruction, Operation], str]] = {
    Format.SMRD: _scalar_memory,
    Format.DS: _lds,
    Format.MUBUF: _buffer,
    Format.MTBUF: _buffer,
    Format.MIMG: _image,
    Format.EXP: _export,
}

"""Readable listings of kernel binaries. That of code is a text which LLVM's assembler takes."""

from collections.abc import Iterator

from lockstep.errors import printable
from lockstep.isa.gcn.container import Binary, Kernel, KernelArgument, UserElement
from lockstep.isa.gcn.decode import instructions
from lockstep.isa.gcn.instruction import Instruction
from lockstep.isa.gcn.operations import OPERATIONS
from lockstep.isa.gcn.registers import scalar
from lockstep.isa.gcn.spelling import spell, waits

_COMMENT_COLUMN = 64
_ANY_SIZE = (256, 0, 0)
_ELEMENTS = {
    1: "sampler {}",
    2: "descriptor of constant buffer {}",
    4: "descriptor of UAV {}",
    17: "table of resources",
    20: "table of constant buffers",
    23: "table of UAVs",
}
_QUALIFIERS = {"uav": "__global ", "hl": "__local ", "hc": "__constant ", "c": "__constant "}


def listing(kernel: Kernel, number: int = 0, words: bool = False) -> Iterator[str]:
    """The lines of one kernel: what it needs, as comments, then its instructions.

    Branches go to labels with ``number`` in them, so that kernels of a file can be assembled
    together. ``words`` appends the encodings. Raises DecodeError.
    """
    end = len(kernel.code)
    targets = {target(instruction) for instruction in instructions(kernel.code)}
    starts = {i.offset for i in instructions(kernel.code) if i.offset in targets}
    starts |= {end} & targets
    labels = {offset: f"L{number}_{offset:04x}" for offset in starts}
    yield f"; kernel {kernel.name}"
    yield from (f"; {line}" for line in needs(kernel))
    for instruction in instructions(kernel.code):
        if instruction.offset in labels:
            yield f"{labels[instruction.offset]}:"
        goal = target(instruction)
        yield _line(instruction, None if goal is None else labels.get(goal), kernel.code, words)
    if end in labels:
        yield f"{labels[end]}:"


def target(instruction: Instruction) -> int | None:
    """Where a branch goes, in bytes from the kernel's first instruction; None if it is none."""
    operation = OPERATIONS[instruction.format, instruction.opcode]
    if not any(operand.type == "target" for operand in operation.sources):
        return None
    distance = instruction.fields["simm16"]
    return instruction.offset + 4 + 4 * (distance - (distance >> 15 << 16))


def needs(kernel: Kernel) -> list[str]:
    """What a kernel takes of a compute unit."""
    dimensions = "xyz"[: kernel.item_ids]
    groups = "".join(axis for axis, enabled in zip("xyz", kernel.group_ids) if enabled)
    size = kernel.required_size
    shape = "any size" if size in (None, _ANY_SIZE) else "x".join(str(n) for n in size or ())
    return [
        f"{kernel.vgprs} VGPRs, {kernel.sgprs} SGPRs, {kernel.lds_bytes} B LDS, "
        f"work-groups of {shape}, float mode {kernel.float_mode:#04x}",
        f"ids of work-items: {dimensions} from v0; of groups: {groups or 'none'} "
        f"from s{kernel.user_sgprs}",
    ]


def summary(binary: Binary) -> Iterator[str]:
    """The lines about all that is in a file but code."""
    for kernel in binary.kernels.values():
        yield f"kernel {kernel.name}: {len(kernel.code)} B of code"
        yield from (f"  {line}" for line in needs(kernel))
        yield from (f"  {line}" for line in _arguments(kernel))
        for sampler in kernel.samplers:
            name = printable(sampler.name)
            yield f"  sampler {sampler.number}: {name} of the source, value {sampler.value:#x}"
        for element in kernel.user_elements:
            registers = scalar(element.first, element.count)
            yield f"  {registers}: {_element(element)}"
        if kernel.constant_buffers:
            sizes = sorted(kernel.constant_buffers.items())
            yield "  constant buffers: " + ", ".join(f"{n} of {size} B" for n, size in sizes)
        if kernel.uavs:
            yield "  UAVs: " + ", ".join(str(number) for number in kernel.uavs)
    for number, data in sorted(binary.constants.items()):
        yield f"data of constant buffer {number}: {len(data)} B"


def _arguments(kernel: Kernel) -> Iterator[str]:
    for k, argument in enumerate(kernel.arguments):
        name = printable(f"{_declaration(argument)} {argument.name}")
        yield f"argument {k}: {name}, {_place(argument)}"


def _declaration(argument: KernelArgument) -> str:
    qualifier = _QUALIFIERS.get(argument.space, "")
    if argument.declared:
        return qualifier + argument.declared
    return qualifier + (f"{argument.type}*" if argument.kind == "pointer" else argument.type)


def _place(argument: KernelArgument) -> str:
    """Where the kernel finds an argument."""
    at = f"at byte {argument.offset} of constant buffer 1"
    match argument.kind, argument.space:
        case "value", _:
            return at
        case "sampler", _:
            return f"sampler {argument.number}"
        case "image", _:
            what = "resource" if argument.access == "RO" else "UAV"
            return f"{what} {argument.number}, {argument.type}, {argument.access}"
        case _, "hl":
            return f"offset in LDS {at}, aligned to {argument.alignment} B"
        case _, "uav":
            where = f"UAV {argument.number}"
        case _:
            where = f"constant buffer {argument.number}"
    return f"{where}, offset {at}, {argument.access}, aligned to {argument.alignment} B"


def _element(element: UserElement) -> str:
    return _ELEMENTS.get(element.kind, f"class {element.kind}, slot {{}}").format(element.slot)


def _line(instruction: Instruction, label: str | None, code: bytes, words: bool) -> str:
    text = f"\t{spell(instruction, label)}"
    remark = f"{instruction.offset:04x}"
    if words:
        encoding = code[instruction.offset : instruction.offset + instruction.size]
        pairs = [encoding[k : k + 4][::-1].hex() for k in range(0, len(encoding), 4)]
        remark += f": {' '.join(pairs)}"
    if text.startswith("\ts_waitcnt 0x"):
        remark += f" {waits(instruction.fields['simm16'])}"
    return f"{text:<{_COMMENT_COLUMN}} ; {remark.rstrip()}"

"""Readable listings of machine code: addresses, scheduling control bits, instructions."""

from collections.abc import Iterator

from lockstep.isa.sass.binary.cubin import Cubin, Function
from lockstep.isa.sass.encoding import BYTES, Instruction, disassemble


def listing(cubin: Cubin, function: Function, words: bool = False) -> Iterator[str]:
    """The lines of one function: what it needs, then its instructions.

    ``words`` appends the encodings. Where the loader will write an address, its symbol follows.
    """
    yield from _heading(function)
    section = f".text.{function.name}"
    relocated = {r.offset: r.symbol for r in cubin.relocations if r.section == section}
    whole = len(function.code) // BYTES * BYTES
    for instruction in disassemble(function.code[:whole], cubin.architecture):
        yield _line(instruction, relocated.get(instruction.pc, ""), words)


def _heading(function: Function) -> Iterator[str]:
    yield f"{'kernel' if function.is_kernel else 'function'} {function.title}"
    facts = [
        f"{function.registers} registers",
        f"{function.barriers} barriers",
        f"{function.shared_bytes} B shared",
        f"{function.stack_bytes} B stack",
    ]
    if function.parameters:
        sizes = " + ".join(str(p.size) for p in function.parameters)
        facts.append(f"parameters {sizes} B at c[0x0][{function.parameter_base:#x}]")
    yield "  " + ", ".join(facts)


def _line(instruction: Instruction, symbol: str, words: bool) -> str:
    text = f"  {instruction.pc:04x} {instruction.control.text()}  {instruction.text()}"
    if symbol:
        text += f"  # {symbol}"
    return f"{text:<96} {instruction.word:032x}" if words else text

"""What the virtual registers of a function cost an assembler that optimises.

PTX spells out more than it keeps in registers: kernel parameters and what is computed from them
alone are operands in constant memory or in uniform registers, copies and conversions of addresses
are no instructions, an offset is part of the access, and a zero-extended number is one register.
"""

from collections.abc import Iterator

from lockstep.execution.ptx.graph import entry_of
from lockstep.execution.ptx.opcodes import CARRY, PtxOpcode, read, registers_in, sources, written
from lockstep.isa.ptx.syntax import (
    Function,
    Immediate,
    Instruction,
    Memory,
    Module,
    Register,
    Vector,
    type_bytes,
)

_UNIFORM_OPCODES = ("mov", "cvta", "cvt", "add", "sub", "mul", "mad", "min", "max", "neg")
_UNIFORM_OPCODES += ("shl", "shr", "and", "or", "xor", "not")
_UNIFORM_SPECIAL = ("%ctaid", "%ntid", "%nctaid", "%cluster", "%nclus", "%smid", "%gridid")
_FLOATS = frozenset(("f16", "f16x2", "bf16", "bf16x2", "f32", "f64"))
_WIDE = frozenset(("u64", "s64", "b64"))
_WORDS = frozenset(("u16", "s16", "u32", "s32", "b32"))


class Values:
    """The values of a function: which cost registers, how many, and who reads and writes them.

    ``reads`` and ``writes`` are, by instruction, names of values that cost something; copies have
    the name of what they copy. ``single``: registers that one instruction writes.
    """

    def __init__(self, module: Module, function: Function):
        self.instructions = function.instructions
        self.entries: list[PtxOpcode] = [entry_of(module, i) for i in self.instructions]
        self._own = function.registers
        pairs = list(zip(self.instructions, self.entries, strict=True))
        self.targets = [[n for n in written(i, e) if n in self._own] for i, e in pairs]
        self.sources = [[n for n in dict.fromkeys(read(i, e)) if n in self._own] for i, e in pairs]
        count: dict[str, int] = {}
        for names in self.targets:
            for name in names:
                count[name] = count.get(name, 0) + 1
        self.single = {name for name, times in count.items() if times == 1}
        self.words = {name: self._words(name) for name in self._own}
        self._copies: dict[str, str] = {}
        uniform = self._uniform()
        only_addresses = self._only_addresses()
        for place, name in self._defined_once():
            source = self._copied(self.instructions[place], name, name in only_addresses)
            if source is not None and self._of(source) in self.single:
                self._copies[name] = self._of(source)
        self.writes = [
            {n for n in names if n not in self._copies and n not in uniform}
            for names in self.targets
        ]
        self.reads = [{self._of(n) for n in names} - uniform for names in self.sources]

    def _words(self, name: str) -> int:
        """Machine registers of a virtual one, but for predicates."""
        kind = self._own[name].type
        return 0 if name == CARRY or kind == "pred" else max(type_bytes(kind) // 4, 1)

    def _of(self, name: str) -> str:
        while name in self._copies:
            name = self._copies[name]
        return name

    def _defined_once(self) -> Iterator[tuple[int, str]]:
        """Places of unguarded instructions that alone write their one result."""
        for place, (i, names) in enumerate(zip(self.instructions, self.targets, strict=True)):
            if len(names) == 1 and names[0] in self.single and i.guard is None:
                yield place, names[0]

    def _uniform(self) -> set[str]:
        """Parameters, and integers that come from them and the CTA's place alone."""
        found: set[str] = set()
        for place, name in self._defined_once():
            i = self.instructions[place]
            if i.opcode == "ld" and "param" in i.modifiers and not self.sources[place]:
                found.add(name)
            if i.opcode not in _UNIFORM_OPCODES or "cc" in i.modifiers:
                continue
            floats = i.opcode != "mov" and not _FLOATS.isdisjoint(i.modifiers)
            special = [n for n in registers_in(i.operands[1:]) if n not in self._own]
            known = all(n in found for n in self.sources[place])
            if known and not floats and all(n.startswith(_UNIFORM_SPECIAL) for n in special):
                found.add(name)
        return found

    def _only_addresses(self) -> set[str]:
        """Registers that are read as the base of accesses and as nothing else."""
        bases: set[str] = set()
        others: set[str] = set()
        for i, entry, names in zip(self.instructions, self.entries, self.sources, strict=True):
            operands = sources(i, entry)
            places = [o for o in operands if isinstance(o, Memory)]
            own = {o.base.name for o in places if isinstance(o.base, Register)}
            rest = [o for o in operands if not isinstance(o, Memory)]
            bases |= own
            others |= (set(names) - own) | set(registers_in(tuple(rest)))
            others |= {n for o in places for n in registers_in(o.extra)}
        return bases - others

    def _copied(self, i: Instruction, name: str, is_address: bool) -> str | None:
        """The register that a result is the same as, for a machine; None for a new value."""
        source = i.operands[1] if len(i.operands) > 1 else None
        if not isinstance(source, Register) or source.name not in self._own:
            return None
        if i.opcode == "cvta" or (i.opcode == "mov" and not isinstance(i.operands[0], Vector)):
            return source.name
        if i.opcode == "cvt" and len(i.modifiers) == 2:
            to, of = i.modifiers
            if to in _WIDE and of == "u32":
                self.words[name] = 1  # above it are zeros
                return source.name
            narrows = to in _WORDS and of in _WIDE | _WORDS
            return source.name if narrows and self.words[self._of(source.name)] == 1 else None
        offset = i.opcode in ("add", "sub") and isinstance(i.operands[2], Immediate)
        return source.name if offset and is_address and "cc" not in i.modifiers else None

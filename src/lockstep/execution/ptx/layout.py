"""Where a kernel's registers and variables are, and those of the functions that it calls."""

import functools
from dataclasses import dataclass

from lockstep.execution.ptx.callgraph import CallGraph
from lockstep.execution.ptx.graph import Block
from lockstep.execution.ptx.liveness import called, is_indirect
from lockstep.execution.ptx.parameters import RETURN, Parameters, words_of
from lockstep.execution.state import Window
from lockstep.isa.instruction import RESERVED_SHARED, WARP_SIZE
from lockstep.isa.ptx.syntax import Function, Register, Variable, type_bytes

_STACK = ("alloca", "stacksave", "stackrestore")
_OF_CLUSTERS = ("mapa", "getctarank")
_CLUSTERED = {"reqnctapercluster", "explicitcluster"}
STACK_ALIGNMENT = 16  # bytes: what a vector access needs
FRAME = ("", "%frame")  # the register that holds where a thread's current frame begins
TAKEN = ("", "%taken")  # bytes that alloca has taken from the end of a thread's local memory


@dataclass
class Frame:
    """What one activation of a recursive function has on its thread's stack.

    ``variables`` bytes for its variables, then room for the registers that it keeps over a call.
    """

    variables: int
    bytes: int = 0


class Layout:
    """Places of everything that a kernel and its functions name.

    ``registers`` and ``slots`` are by function and register name; a slot is the byte offset of a
    register that lives across blocks, in the warp's slots.
    ``shared``, ``local`` (by function and name), ``parameters``: byte offsets of variables in their
    space; those of recursive functions are relative to the frame.
    ``symbols``: global and constant variables, in the order of the launch's address table.
    ``frames``: of recursive functions. ``entries``: the number of each function's first block.
    """

    def __init__(self, calls: CallGraph):
        self.calls, self.module = calls, calls.module
        self.entry = calls.functions[-1]
        self.registers: dict[tuple[str, str], Variable] = {}
        self.slots: dict[tuple[str, str], int] = {}
        self.shared: dict[str, int] = {}
        self.local: dict[tuple[str, str], int] = {}
        self.parameters: dict[str, int] = {}
        self.symbols: dict[str, int] = {}
        self.frames: dict[str, Frame] = {}
        self.entries: dict[str, int] = {}
        self.passed = {f.name: Parameters(f) for f in calls.functions}
        self.sites: list[tuple[int, int]] = []  # static index, Window
        self.register_bytes = self.shared_bytes = self.local_bytes = self.parameter_bytes = 0
        asks = any(map(_asks_for_reserved, calls.functions))
        self.reserved_shared = RESERVED_SHARED if asks else 0  # with which shared memory begins
        for variable in self.entry.parameters if self.entry.is_entry else ():
            self.parameter_bytes = _place(
                self.parameters, variable.name, variable, self.parameter_bytes
            )
        for function in calls.functions:
            self._add_registers(function)
            self._place_local(function)
        self._place_shared()

    def _add_registers(self, function: Function) -> None:
        for name, variable in function.registers.items():
            self.registers[function.name, name] = variable
        words = self.passed[function.name].words
        if not function.is_entry:
            words = words | {RETURN: 4}
        for name, size in words.items():
            kind = f"b{8 * size}"
            self.registers[function.name, name] = Variable(name, "reg", kind, function.position)

    def _place_local(self, function: Function) -> None:
        """Local variables, and parameters whose address is taken."""
        recursive = function.name in self.calls.recursive
        used = 0 if recursive else self.local_bytes
        own = [v for v in function.variables if v.space == "local"]
        for variable in (*own, *self.passed[function.name].addressed):
            used = _place(self.local, (function.name, variable.name), variable, used)
        used = -(-used // STACK_ALIGNMENT) * STACK_ALIGNMENT
        if recursive:
            self.frames[function.name] = Frame(used, used)
        else:
            self.local_bytes = used

    def _place_shared(self) -> None:
        """Static shared variables first; the dynamic (open or extern) ones share what follows."""
        inner = (v for f in self.calls.functions for v in f.variables)
        shared = [v for v in (*self.module.variables.values(), *inner) if v.space == "shared"]
        used = self.reserved_shared
        for variable in sorted(shared, key=lambda v: v.bytes == 0):
            used = _place(self.shared, variable.name, variable, used)
        self.shared_bytes = used - self.reserved_shared

    def assign_slots(self, blocks: list[Block]) -> None:
        """Give a slot to every register that is live where a block begins, and to results."""
        live = dict.fromkeys((b.function.name, n) for b in blocks for n in sorted(b.live_in))
        for block in blocks:
            self._add_call(block)
            if block.last.opcode == "ret" and not block.function.is_entry:
                results = (w for v in block.function.returns for w in words_of(v))
                live |= dict.fromkeys((block.function.name, w.register) for w in results)
        for key, used in ((FRAME, self.frames), (TAKEN, self.allocates)):
            if used:
                self.registers[key] = Variable(key[1], "reg", "b32", self.entry.position)
                live[key] = None
        sizes = {key: self._slot_bytes(key) for key in live}
        for key in sorted(live, key=lambda k: -sizes[k]):
            self.slots[key] = self.register_bytes
            self.register_bytes += sizes[key]
        self.register_bytes = -(-self.register_bytes // 64) * 64

    def _add_call(self, block: Block) -> None:
        """What a call needs: the register with an indirect callee, and room on the stack."""
        if block.resumes is None or block.resumes.opcode != "call":
            return
        name = block.function.name
        if is_indirect(block):
            kept = called(block)
            self.registers[name, kept] = Variable(kept, "reg", "b64", block.resumes.position)
        if name in self.frames:
            saved = sum(self.register_size(name, n) for n in block.live_in)
            frame = self.frames[name]
            needed = -(-(frame.variables + saved) // STACK_ALIGNMENT) * STACK_ALIGNMENT
            frame.bytes = max(frame.bytes, needed)

    def register_size(self, function: str, name: str) -> int:
        """Bytes of a register on the stack."""
        variable = self.registers.get((function, name))
        return 4 if variable is None or variable.type == "pred" else type_bytes(variable.type)

    def _slot_bytes(self, key: tuple[str, str]) -> int:
        variable = self.registers.get(key)
        if variable is None or variable.type == "pred":
            return 4
        return max(type_bytes(variable.type) * WARP_SIZE, 64)

    def window(self, function: Function, name: str) -> Window:
        """Where a variable is, or a parameter; those of functions are a thread's own memory."""
        if function is self.entry and name in self.parameters:
            return Window.PARAMETER
        if name in self.shared:
            return Window.SHARED
        return Window.LOCAL if (function.name, name) in self.local else Window.GLOBAL

    @functools.cached_property
    def clustered(self) -> bool:
        """Whether the kernel tells the shared memories of a cluster's CTAs apart."""
        names = (i.name for f in self.calls.functions for i in f.instructions)
        known = any("cluster" in name or name.startswith(_OF_CLUSTERS) for name in names)
        return known or not _CLUSTERED.isdisjoint(self.entry.directives)

    @property
    def deepest(self) -> int:
        """Bytes of the largest frame."""
        return max((f.bytes for f in self.frames.values()), default=0)

    @functools.cached_property
    def allocates(self) -> bool:
        """Whether any function uses alloca."""
        return any(i.opcode in _STACK for f in self.calls.functions for i in f.instructions)


def _place(places: dict, key, variable: Variable, used: int) -> int:
    alignment = variable.alignment or type_bytes(variable.type) * variable.vector
    start = -(-used // alignment) * alignment
    places[key] = start
    return start + variable.bytes


def _asks_for_reserved(function: Function) -> bool:
    """Whether a function names the place of the shared memory that CUDA reserves for itself."""
    return any(
        isinstance(o, Register) and o.name.startswith("%reserved_smem_offset")
        for i in function.instructions
        for o in i.operands
    )

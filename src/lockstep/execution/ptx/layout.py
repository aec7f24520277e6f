"""Where a kernel's registers and variables are, and those of the functions that it calls."""

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from llvmlite import ir

from lockstep.execution.lanes.builder import POINTER, WORD
from lockstep.execution.lanes.types import I32, I64, Value
from lockstep.execution.ptx.callgraph import CallGraph, function_address
from lockstep.execution.ptx.graph import Block
from lockstep.execution.ptx.liveness import called, is_indirect
from lockstep.execution.ptx.parameters import RETURN, Parameters, words_of
from lockstep.execution.state import Window
from lockstep.isa.ptx.syntax import Function, Variable, type_bytes
from lockstep.isa.warp import WARP_LANES

if TYPE_CHECKING:
    from lockstep.execution.ptx.lift import Lift

_STACK = ("alloca", "stacksave", "stackrestore")
_OF_CLUSTERS = ("mapa", "getctarank")
_CLUSTERED = {"reqnctapercluster", "explicitcluster"}
STACK_ALIGNMENT = 16  # bytes: what a vector access needs
_FRAME = ("", "%frame")  # the register that holds where a thread's current frame begins
_TAKEN = ("", "%taken")  # bytes that alloca has taken from the end of a thread's local memory


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
        for variable in sorted(shared, key=lambda v: v.bytes == 0):
            self.shared_bytes = _place(self.shared, variable.name, variable, self.shared_bytes)

    def assign_slots(self, blocks: list[Block]) -> None:
        """Give a slot to every register that is live where a block begins, and to results."""
        live = dict.fromkeys((b.function.name, n) for b in blocks for n in sorted(b.live_in))
        for block in blocks:
            self._add_call(block)
            if block.last.opcode == "ret" and not block.function.is_entry:
                results = (w for v in block.function.returns for w in words_of(v))
                live |= dict.fromkeys((block.function.name, w.register) for w in results)
        for key, used in ((_FRAME, self.frames), (_TAKEN, self.allocates)):
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
        return max(type_bytes(variable.type) * WARP_LANES, 64)

    # Values

    def window(self, function: Function, name: str) -> Window:
        """Where a variable is, or a parameter; those of functions are a thread's own memory."""
        if function is self.entry and name in self.parameters:
            return Window.PARAMETER
        if name in self.shared:
            return Window.SHARED
        return Window.LOCAL if (function.name, name) in self.local else Window.GLOBAL

    def address(self, lift: "Lift", name: str, offset: int) -> Value:
        """The address of a variable in its own space, or of a global one, in every lane."""
        b, function = lift.b, lift.function
        if (function.name, name) in self.local:
            return self._local_address(lift, self.local[function.name, name] + offset)
        if name in self.shared:
            place = b.constant(I64, self.shared[name] + offset)
            return self.tagged(lift, place) if self.clustered else place
        if name in self.parameters:
            return b.constant(I64, self.parameters[name] + offset)
        if name in self.module.variables:
            index = self.symbols.setdefault(name, len(self.symbols))
            table = b.ir.inttoptr(b.field("launch", "symbols"), POINTER)
            address = b.ir.load(b.offset(table, 8 * index), typ=WORD)
            return b.splat(b.ir.add(address, ir.Constant(WORD, offset)), I64)
        if name in self.module.functions or name in self.module.aliases:
            return b.constant(I64, function_address(self.module, name) + offset)
        raise lift.refuse(f"no variable {name}")

    def tagged(self, lift: "Lift", place: Value) -> Value:
        """The shared address of a place (i32 or i64) in the CTA's own shared memory."""
        tag = lift.scalar_field("cta", "tag", place.type)
        return Value(lift.b.ir.add(place.ir, tag.ir), place.type)

    def untagged(self, lift: "Lift", address: Value) -> Value:
        """A shared address (i32 or i64) relative to the CTA's own shared memory."""
        if not self.clustered:
            return address
        tag = lift.scalar_field("cta", "tag", address.type)
        return Value(lift.b.ir.sub(address.ir, tag.ir), address.type)

    @functools.cached_property
    def clustered(self) -> bool:
        """Whether the kernel tells the shared memories of a cluster's CTAs apart."""
        names = (i.name for f in self.calls.functions for i in f.instructions)
        known = any("cluster" in name or name.startswith(_OF_CLUSTERS) for name in names)
        return known or not _CLUSTERED.isdisjoint(self.entry.directives)

    def _local_address(self, lift: "Lift", offset: int) -> Value:
        if lift.function.name not in self.frames:
            return lift.b.constant(I64, offset)
        address = self.frame_address(lift, offset)
        return Value(lift.b.ir.zext(address.ir, lift.b.vector(I64)), I64)

    def frame_address(self, lift: "Lift", offset: int) -> Value:
        """The local address (i32) of a place in each thread's current frame."""
        b = lift.b
        start = b.constant(I32, self.local_bytes + offset)
        return Value(b.ir.add(lift.slot(*_FRAME).ir, start.ir), I32)

    def move_frame(self, lift: "Lift", size: int) -> None:
        """The active threads enter (or, with a negative size, leave) a frame."""
        b = lift.b
        moved = b.ir.add(lift.slot(*_FRAME).ir, b.constant(I32, size).ir)
        lift.put(*_FRAME, Value(moved, I32))

    @property
    def deepest(self) -> int:
        """Bytes of the largest frame."""
        return max((f.bytes for f in self.frames.values()), default=0)

    # What alloca takes

    @functools.cached_property
    def allocates(self) -> bool:
        """Whether any function uses alloca."""
        return any(i.opcode in _STACK for f in self.calls.functions for i in f.instructions)

    def taken(self, lift: "Lift") -> Value:
        """Bytes (i32) that each thread has taken."""
        return lift.slot(*_TAKEN) if self.allocates else lift.b.constant(I32, 0)

    def take(self, lift: "Lift", size: Value) -> None:
        """Set how many bytes the active threads have taken."""
        lift.put(*_TAKEN, size)

    def frames_end(self, lift: "Lift") -> Value:
        """The local address (i32) behind the frames of functions that are active."""
        if not self.frames:
            return lift.b.constant(I32, self.local_bytes)
        own = self.frames.get(lift.function.name)
        return self.frame_address(lift, own.bytes if own else 0)


def _place(places: dict, key, variable: Variable, used: int) -> int:
    alignment = variable.alignment or type_bytes(variable.type) * variable.vector
    start = -(-used // alignment) * alignment
    places[key] = start
    return start + variable.bytes

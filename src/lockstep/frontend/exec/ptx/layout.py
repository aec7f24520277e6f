"""Where a kernel's registers, variables and special registers are."""

from typing import TYPE_CHECKING

from llvmlite import ir

from lockstep.frontend.exec.lanes.addresses import lane_numbers
from lockstep.frontend.exec.lanes.builder import POINTER, WORD
from lockstep.frontend.exec.lanes.types import I32, I64, Value
from lockstep.frontend.exec.ptx.graph import Block, refuse
from lockstep.frontend.exec.state import LANES, Window
from lockstep.isa.ptx.syntax import Function, Module, Variable, type_bytes

if TYPE_CHECKING:
    from lockstep.frontend.exec.ptx.lift import Lift

_RECORD_FIELDS = {
    "%ntid": ("launch", "ntid"),
    "%nctaid": ("launch", "nctaid"),
    "%ctaid": ("cta", "ctaid"),
}
_SCALARS = {
    "%warpid": ("warp", "index"),
    "%nwarpid": ("launch", "warps"),
    "%smid": ("cta", "sm"),
    "%nsmid": ("launch", "sms"),
    "%gridid": ("launch", "grid_id"),
    "%clock": ("launch", "clock"),
    "%clock64": ("launch", "clock"),
    "%globaltimer": ("launch", "nanoseconds"),
    "%dynamic_smem_size": ("launch", "dynamic_shared_bytes"),
    "%total_smem_size": ("launch", "shared_bytes"),
}
_WIDE = {"%clock64", "%globaltimer", "%gridid"}
_AXES = "xyz"


class Layout:
    """Places of everything that a kernel and its functions name.

    ``registers`` and ``slots`` are by function and register name; a slot is the byte offset of a
    register that lives across blocks, in the warp's slots.
    ``shared``, ``local``, ``parameters``: byte offsets of variables in their space.
    ``symbols``: global and constant variables, in the order of the launch's address table.
    """

    def __init__(self, module: Module, functions: list[Function]):
        self.module = module
        self.entry = functions[-1]
        self.registers: dict[tuple[str, str], Variable] = {}
        self.slots: dict[tuple[str, str], int] = {}
        self.shared: dict[str, int] = {}
        self.local: dict[str, int] = {}
        self.parameters: dict[str, int] = {}
        self.symbols: dict[str, int] = {}
        self.sites: list[tuple[int, int]] = []  # static index, Window
        self.register_bytes = self.shared_bytes = self.local_bytes = self.parameter_bytes = 0
        for variable in self.entry.parameters:
            self.parameter_bytes = self._place(self.parameters, variable, self.parameter_bytes)
        for function in functions:
            for name, variable in function.registers.items():
                self.registers[function.name, name] = variable
            for variable in function.variables:
                self._add(variable)
        self._place_shared()
        self.local_bytes = -(-self.local_bytes // 16) * 16  # what a vector access needs

    def _add(self, variable: Variable) -> None:
        if variable.space in ("local", "param"):
            self.local_bytes = self._place(self.local, variable, self.local_bytes)

    def _place_shared(self) -> None:
        """Static shared variables first; the dynamic (open or extern) ones share what follows."""
        everything = [*self.module.variables.values(), *self.entry.variables]
        shared = [v for v in everything if v.space == "shared"]
        for variable in sorted(shared, key=lambda v: v.bytes == 0):
            self.shared_bytes = self._place(self.shared, variable, self.shared_bytes)

    @staticmethod
    def _place(places: dict[str, int], variable: Variable, used: int) -> int:
        alignment = variable.alignment or type_bytes(variable.type) * variable.vector
        start = -(-used // alignment) * alignment
        places[variable.name] = start
        return start + variable.bytes

    def assign_slots(self, blocks: list[Block]) -> None:
        """Give a slot to every register that is live where a block begins."""
        live = dict.fromkeys((b.function.name, n) for b in blocks for n in sorted(b.live_in))
        sizes = {key: self._slot_bytes(key) for key in live}
        for key in sorted(live, key=lambda k: -sizes[k]):
            self.slots[key] = self.register_bytes
            self.register_bytes += sizes[key]
        self.register_bytes = -(-self.register_bytes // 64) * 64

    def _slot_bytes(self, key: tuple[str, str]) -> int:
        variable = self.registers.get(key)
        if variable is None or variable.type == "pred":
            return 4
        return max(type_bytes(variable.type) * LANES, 64)

    # Values

    def window(self, function: Function, name: str) -> Window:
        """Where a variable is, or a parameter; those of functions are a thread's own memory."""
        if function is self.entry and name in self.parameters:
            return Window.PARAMETER
        if name in self.shared:
            return Window.SHARED
        return Window.LOCAL if name in self.local else Window.GLOBAL

    def address(self, lift: "Lift", name: str, offset: int) -> Value:
        """The address of a variable in its own space, or of a global one, in every lane."""
        b = lift.b
        for places in (self.shared, self.local, self.parameters):
            if name in places:
                return b.constant(I64, places[name] + offset)
        if name in self.module.variables:
            index = self.symbols.setdefault(name, len(self.symbols))
            table = b.ir.inttoptr(b.field("launch", "symbols"), POINTER)
            address = b.ir.load(b.offset(table, 8 * index), typ=WORD)
            return b.splat(b.ir.add(address, ir.Constant(WORD, offset)), I64)
        raise lift.refuse(f"no variable {name}")

    def special(self, lift: "Lift", name: str) -> Value:
        """Value of a special register."""
        b = lift.b
        base, _, axis = name.partition(".")
        if base == "%tid" and axis in _AXES:
            threads = b.ir.inttoptr(b.field("warp", "threads"), POINTER)
            return b.load_vector(b.offset(threads, _AXES.index(axis) * 4 * LANES), I32)
        if base in _RECORD_FIELDS and axis in _AXES:
            record, field = _RECORD_FIELDS[base]
            return lift.scalar_field(record, f"{field}_{axis}", I32)
        if base in _SCALARS and not axis:
            return lift.scalar_field(*_SCALARS[base], I64 if base in _WIDE else I32)
        lane = lane_numbers(b, I32)
        match name:
            case "%laneid":
                return lane
            case "WARP_SZ":
                return b.constant(I32, LANES)
            case "%lanemask_eq":
                return b.each(I32, [1 << k for k in range(LANES)])
            case "%lanemask_lt":
                return b.each(I32, [(1 << k) - 1 for k in range(LANES)])
            case "%lanemask_le":
                return b.each(I32, [(2 << k) - 1 for k in range(LANES)])
            case "%lanemask_gt":
                return b.each(I32, [~((2 << k) - 1) & 0xFFFFFFFF for k in range(LANES)])
            case "%lanemask_ge":
                return b.each(I32, [~((1 << k) - 1) & 0xFFFFFFFF for k in range(LANES)])
        raise refuse(self.module, lift.instruction, f"special register {name} is not supported")

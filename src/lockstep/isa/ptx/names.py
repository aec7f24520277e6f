"""What names stand for: special registers, scopes, and the renaming of names declared again."""

from lockstep.isa.instruction import WARP_SIZE
from lockstep.isa.ptx.syntax import Immediate, Operand, Register, Sink, Variable

# PTX ISA, "Special Registers".
_VECTORS = ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid",
            "cluster_nctaid")  # fmt: skip
_SCALARS = (
    "laneid", "warpid", "nwarpid", "smid", "nsmid", "gridid", "is_explicit_cluster",
    "cluster_ctarank", "cluster_nctarank", "lanemask_eq", "lanemask_le", "lanemask_lt",
    "lanemask_ge", "lanemask_gt", "clock", "clock_hi", "clock64", "globaltimer",
    "globaltimer_lo", "globaltimer_hi", "reserved_smem_offset_begin", "reserved_smem_offset_end",
    "reserved_smem_offset_cap", "reserved_smem_offset_0", "reserved_smem_offset_1",
    "total_smem_size", "aggr_smem_size", "dynamic_smem_size", "current_graph_exec",
    *(f"envreg{i}" for i in range(32)), *(f"pm{i}" for i in range(8)),
    *(f"pm{i}_64" for i in range(8)),
)  # fmt: skip
SPECIAL_REGISTERS = frozenset(
    [f"%{name}" for name in _SCALARS]
    + [f"%{name}{part}" for name in _VECTORS for part in ("", ".x", ".y", ".z", ".w")]
)


class Names:
    """What every name in sight stands for, in nested scopes.

    ``visible`` maps a name, and a number literal once seen, to its operand. A name that a
    function declares again is renamed ``name'2``, ``name'3`` ..., so that its operand is unique.
    ``variables`` holds what is in memory, by its unique name.
    """

    __slots__ = ("_declared", "_shadowed", "variables", "visible")

    def __init__(self) -> None:
        self.visible: dict[str, Operand] = {name: Register(name) for name in SPECIAL_REGISTERS}
        self.visible["_"] = Sink()
        self.visible["WARP_SZ"] = Immediate(WARP_SIZE)  # PTX ISA, "Predefined Constants"
        self.variables: dict[str, Variable] = {}
        self._shadowed: list[dict[str, Operand | None]] = [{}]
        self._declared: dict[str, int] = {}

    def enter(self) -> None:
        """Begin a scope; the outermost one of a function forgets earlier functions."""
        if len(self._shadowed) == 1:
            self._declared = {}
        self._shadowed.append({})

    def leave(self) -> None:
        """End a scope: its names are gone, those it hid are back."""
        for name, before in self._shadowed.pop().items():
            if before is None:
                del self.visible[name]
            else:
                self.visible[name] = before

    def is_here(self, name: str) -> bool:
        """Whether the innermost scope has declared ``name``."""
        return name in self._shadowed[-1]

    def unique(self, name: str) -> str:
        """A name for what is about to be declared as ``name``, unlike any other in the function."""
        number = self._declared.get(name, name in self._shadowed[0]) + 1
        self._declared[name] = number
        return name if number == 1 else f"{name}'{number}"

    def is_outermost(self, name: str) -> bool:
        """Whether the module has declared ``name``."""
        return name in self._shadowed[0]

    def declare_outermost(self, name: str, operand: Operand) -> None:
        """Let ``name`` stand for ``operand`` in the module, unless something inner hides it."""
        self._shadowed[0].setdefault(name, None)
        for shadowed in self._shadowed[1:]:
            if name in shadowed:
                shadowed[name] = operand
                return
        self.visible[name] = operand

    def declare(self, name: str, operand: Operand) -> None:
        """Let ``name`` stand for ``operand`` to the end of the innermost scope."""
        self._shadowed[-1].setdefault(name, self.visible.get(name))
        self.visible[name] = operand

"""A test case: one instruction (or a few that belong together), its operands and results.

Case texts are templates: ``{r0}`` is a result register, ``{a0}`` an operand register, ``{shared}``,
``{local}`` and ``{global}`` the addresses of 64 bytes of the thread's own in that space.
"""

from dataclasses import dataclass

HALF = ("f16", "bf16", "e4m3x2", "e5m2x2")
PACKED = ("f16x2", "bf16x2", "tf32", "u16x2", "s16x2", "e4m3x4", "e5m2x4")
SLOT = 8  # bytes of an operand or result in memory


@dataclass(frozen=True)
class Case:
    """What to execute and how to compare.

    ``operands`` are types with a flavour of values, as in ``u32:count``. ``check`` is ``bits``,
    ``bound`` (the documented error of an approximation), or another rule of agreement.py.
    ``sm`` is the least target.
    """

    name: str
    text: str
    results: tuple[str, ...]
    operands: tuple[str, ...]
    check: str = "bits"
    sm: int = 70
    rows: int = 64

    @property
    def operand_types(self):
        return tuple(operand.partition(":")[0] for operand in self.operands)

    @property
    def opcode(self):
        return self.name.partition(".")[0]


WIDE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}


def expand(token, kind):
    """``t`` is the case's type, ``w`` twice as wide, ``n`` a count, ``p`` a predicate."""
    base, _, flavour = token.partition(":")
    base = {"t": kind, "w": WIDE.get(kind, ""), "n": "u32", "p": "pred"}.get(base, base)
    flavour = flavour or {"n": "count"}.get(token, "")
    return f"{base}:{flavour}" if flavour else base


def simple(mnemonics, kinds, operands="t t", results="t", form="", **options):
    """Cases of ``mnemonic.kind result, operands``; ``form`` is another order of operands."""
    for mnemonic in mnemonics.split():
        for kind in kinds.split():
            name = f"{mnemonic}.{kind}"
            sources = tuple(expand(token, kind) for token in operands.split())
            targets = tuple(expand(token, kind) for token in results.split())
            plain = ", ".join(["{r0}", *(f"{{a{i}}}" for i in range(len(sources)))])
            yield Case(name, f"{name} {form or plain};", targets, sources, **options)


def variants(*parts):
    """Every joining of one word of each part; an underscore is an empty word."""
    names = [""]
    for part in parts:
        names = [f"{n}.{w}" if w != "_" else n for n in names for w in part.split()]
    return " ".join(name.lstrip(".") for name in names)


def register_type(kind):
    """The type to declare a register of."""
    if kind in HALF or kind in ("u8", "s8", "b8"):
        return "b16"
    return "b32" if kind in PACKED else kind


def access_type(kind):
    """The type that moves a register from and to memory."""
    return {"u8": "u8", "s8": "s8", "b8": "b8"}.get(kind, register_type(kind))

"""The syntax tree of a PTX module: what the parser makes and every consumer reads.

Nothing here knows what an opcode means. Names are as in the text, ``%`` included; scopes are
resolved by the parser, so that a name stands for one register or variable within its function
(a name declared again in an inner scope is renamed ``name'2``, ``name'3`` ...).
"""

import functools

import msgspec


class Position(msgspec.Struct, frozen=True):
    """Where in the PTX text: line and column, from 1."""

    line: int
    column: int


class SourceLine(msgspec.Struct, frozen=True):
    """A ``.loc``: a line of the program that PTX was made from, and what it is inlined into."""

    file: str
    line: int
    column: int
    function: str = ""  # the inlined function, if it is one
    inlined_at: "SourceLine | None" = None


class Register(msgspec.Struct, frozen=True):
    """A register operand, or a special register such as ``%tid.x``.

    ``component`` selects an element of a vector register (0 to 3), -1 for the whole.
    """

    name: str
    component: int = -1


class Immediate(msgspec.Struct, frozen=True):
    """A constant operand.

    Integers keep their exact value (also above 2**63). ``bits`` is 32 or 64 for ``0f...`` and
    ``0d...`` literals, whose ``value`` is the bit pattern; 0 for integers. Decimal floating-point
    literals are 64-bit patterns.
    """

    value: int
    bits: int = 0


class Symbol(msgspec.Struct, frozen=True):
    """The address of a variable or function plus a byte offset, a label, or a named option.

    In initialisers ``generic`` asks for the generic address, and ``mask`` (0xFF, 0xFF00 ...; 0 for
    none) for those bits of it, shifted down to bit 0.
    """

    name: str
    offset: int = 0
    generic: bool = False
    mask: int = 0


class Sink(msgspec.Struct, frozen=True):
    """``_``: a result that nobody wants."""


class Negated(msgspec.Struct, frozen=True):
    """``!p``: a predicate operand, inverted."""

    operand: Register


class Part(msgspec.Struct, frozen=True):
    """A source or destination of a video instruction: ``%r1.b0``, ``%r1.h1``, ``-%r1.b3210``."""

    register: Register
    selector: str = ""  # without its dot; "" for the whole
    negative: bool = False


class Pair(msgspec.Struct, frozen=True):
    """``d|p``: two results of one instruction."""

    first: "Operand"
    second: "Operand"


class Vector(msgspec.Struct, frozen=True):
    """``{a, b, ...}``."""

    elements: tuple["Operand", ...]


class Memory(msgspec.Struct, frozen=True):
    """``[base + offset]``; also ``[base, {x, y}]`` of textures, surfaces and tensor maps.

    ``base`` is a register, a symbol (its own offset is folded into ``offset``), or an immediate.
    ``extra`` holds the operands after the first comma inside the brackets.
    """

    base: "Operand"
    offset: int = 0
    extra: tuple["Operand", ...] = ()


Operand = Register | Immediate | Symbol | Sink | Negated | Part | Pair | Vector | Memory


class Call(msgspec.Struct, frozen=True):
    """The operands of ``call``: results, callee (symbol or register), arguments.

    ``targets`` names a ``.callprototype`` or ``.calltargets`` label for an indirect call.
    """

    results: tuple[Operand, ...]
    callee: Symbol | Register
    arguments: tuple[Operand, ...]
    targets: str = ""


class Instruction(msgspec.Struct, frozen=True):
    """One instruction: ``@guard opcode.modifier.modifier operands;``.

    ``opcode`` is the part before the first dot, ``modifiers`` the parts after it, without dots
    (``("global", "nc", "L1::no_allocate", "v4", "f32")``). A ``call`` has one operand, a Call.
    """

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand | Call, ...]
    position: Position
    guard: Register | Negated | None = None
    source: SourceLine | None = None

    @property
    def name(self) -> str:
        """The opcode with all modifiers, as in the text."""
        return ".".join((self.opcode, *self.modifiers))


class Variable(msgspec.Struct, frozen=True):
    """A variable or parameter.

    ``space``: reg, const, global, local, param, shared. ``type`` without its dot (``f32``,
    ``b8``, ``texref``...), ``vector`` 1, 2 or 4. ``shape`` are array extents (0 = given by the
    initialiser or open, as for ``extern .shared``); () for a scalar. ``initial`` holds
    numbers (Immediate) and symbols in order, flat, short ones are filled up with zeros; of
    texture, sampler and surface references it holds property and value in turn.
    ``attributes`` are other words, as ``("ptr", "global", "align", "16")`` of a parameter.
    """

    name: str
    space: str
    type: str
    position: Position
    vector: int = 1
    shape: tuple[int, ...] = ()
    alignment: int = 0  # bytes; 0 = natural
    initial: tuple[Immediate | Symbol, ...] = ()
    linkage: str = ""  # extern, visible, weak, common
    attributes: tuple[str, ...] = ()

    @property
    def element_bytes(self) -> int:
        """Bytes of one element, vectors included."""
        return type_bytes(self.type) * self.vector

    @property
    def bytes(self) -> int:
        """Size in memory (0 for an open array)."""
        size = self.element_bytes
        for extent in self.shape:
            size *= extent
        return size


class Prototype(msgspec.Struct, frozen=True):
    """A ``.callprototype``: the shape of functions that an indirect call may reach."""

    name: str
    returns: tuple[Variable, ...]
    parameters: tuple[Variable, ...]


class Function(msgspec.Struct):
    """A ``.entry`` or ``.func`` with its body, or a declaration without one.

    ``labels`` maps a label to the index of the instruction that it stands before (the number of
    instructions for one at the end). ``registers`` maps every register's name to its Variable
    (ranges ``%r<10>`` expanded). ``variables`` are local, shared, param and const variables
    declared inside. ``tables`` maps a ``.branchtargets`` or ``.calltargets`` label to its list.
    ``directives``: ``maxntid``, ``reqntid``, ``minnctapersm``, ``maxnreg``, ``noreturn`` ...
    with their numbers.
    """

    name: str
    is_entry: bool
    position: Position
    parameters: tuple[Variable, ...] = ()
    returns: tuple[Variable, ...] = ()
    linkage: str = ""
    directives: dict[str, tuple[int, ...]] = {}
    pragmas: tuple[str, ...] = ()
    registers: dict[str, Variable] = {}
    variables: list[Variable] = []
    instructions: list[Instruction] = []
    labels: dict[str, int] = {}
    tables: dict[str, tuple[str, ...]] = {}
    prototypes: dict[str, Prototype] = {}
    has_body: bool = True


class Module(msgspec.Struct):
    """A PTX module: ``version`` as (8, 7), ``target`` as ("sm_80", "debug"), address size."""

    name: str  # the file, for messages
    version: tuple[int, int]
    target: tuple[str, ...]
    address_size: int
    variables: dict[str, Variable] = msgspec.field(default_factory=dict)
    functions: dict[str, Function] = msgspec.field(default_factory=dict)
    files: dict[int, str] = msgspec.field(default_factory=dict)
    sections: dict[str, str] = msgspec.field(default_factory=dict)  # debug sections, as text
    pragmas: tuple[str, ...] = ()
    aliases: dict[str, str] = msgspec.field(default_factory=dict)  # to functions with bodies

    @property
    def entries(self) -> dict[str, Function]:
        """The kernels."""
        return {n: f for n, f in self.functions.items() if f.is_entry}


_OPAQUE = {"pred": 1, "texref": 8, "samplerref": 8, "surfref": 8}


@functools.cache
def type_bytes(name: str) -> int:
    """Bytes of a fundamental type by its name (``f16x2`` 4, ``b128`` 16, ``e4m3`` 1)."""
    if name in _OPAQUE:
        return _OPAQUE[name]
    if name.startswith(("e4m3", "e5m2")):
        return 2 if name.endswith("x2") else 1
    base, _, lanes = name.partition("x")
    digits = "".join(c for c in base if c.isdigit())
    return int(digits) * int(lanes or 1) // 8 if base != "tf32" else 4

"""Statements on values that all threads of a block have, or all lanes of a mask.

``UNIFORM`` are variables that every thread of a block gives the same value, as they are set only
where all of a block are: compilers keep those of a warp in uniform registers.
"""

from cuda_twin.expressions import Expressions
from cuda_twin.statements import Names, Statements

UNIFORM: Names = {
    "u32": ["g0", "g1", "g2", "p0", "p1", "blockIdx.x", "gridDim.x"],
    "u64": ["h0", "q0"],
    "f32": ["e0", "r0"],
    "f64": ["(f64)r0"],
}
BEGIN = (
    "u32 g0 = p0 + blockIdx.x, g1 = p1 ^ blockDim.x, g2 = table[(p0 + blockIdx.y) & 15];",
    "u64 h0 = q0 * gridDim.x;",
    "f32 e0 = r0 + (f32)blockIdx.x;",
)
DIGEST = "g0 + 3 * g1 + 5 * g2 + 7 * h0 + bits(e0)"
CONDITIONS = (
    *("({u32} & {bit})", "({u32} < {u32})", "((i32){u32} {c} (i32){u32})", "({u64} {c} {u64})"),
    *("({f32} {c} {f32})", "(({u32} & {bit}) && {u32} {c} {u32})", "(({u32} ^ {u32}) & {bit})"),
)
_WRITTEN = {"u32": ("g0", "g1", "g2"), "u64": ("h0",), "f32": ("e0",)}
_KINDS = ("u32", "u32", "u32", "u64", "f32")


def value(s: Statements, kind: str) -> str:
    """An expression that all of a block have alike."""
    return Expressions(s.chance, s.e.depth, CONDITIONS).value(kind, UNIFORM)


def _condition(s: Statements) -> str:
    return Expressions(s.chance, s.e.depth, CONDITIONS).condition(UNIFORM, 0)


def assign(s: Statements, names: Names, *_: object) -> None:
    """A variable that all of a block have alike."""
    kind = s.chance.choice(_KINDS)
    target = s.chance.choice(_WRITTEN[kind])
    s.write(f"{target} = {value(s, kind)};")
    if kind == "u32":
        s.write(f"{s.variable(names, 'u32')} += {target} ^ table[({value(s, kind)}) & 15];")


def branch(s: Statements, names: Names, mask: str | None, whole: bool, depth: int) -> None:
    """Taken by all of a block, or by none."""
    condition = _condition(s)
    s.block(f"if ({condition}) {{", lambda: s.body(names, mask, whole, depth + 1, 2))
    if s.chance.random() < 0.5:
        s.block("else {", lambda: s.body(names, mask, whole, depth + 1, 1))


def loop(s: Statements, names: Names, mask: str | None, whole: bool, depth: int) -> None:
    """As many turns as a uniform variable says."""
    turn, end = s.new("t"), s.new("n")
    s.write(f"u32 {end} = ({value(s, 'u32')}) & 3;")

    def turns() -> None:
        s.write(f"{s.variable(names, 'u32')} ^= table[({turn} + p1) & 15];")
        s.body(names, mask, whole, depth + 1, 1)
        if s.chance.random() < 0.5:
            condition = _condition(s)
            s.write(f"if ({condition}) {s.chance.choice(('break', 'continue'))};")
            s.body(names, mask, whole, depth + 1, 1)

    s.block(f"for (u32 {turn} = 0; {turn} < {end}; {turn}++) {{", turns)


def agreed(s: Statements, names: Names, mask: str, whole: bool, depth: int) -> None:
    """A branch on what the lanes of a mask have told each other."""
    word = s.new("w")
    value, condition = s.e.value("u32", names, 1), s.e.condition(names)
    told = (
        f"__shfl_sync({mask}, {value}, nth({mask}, {s.chance.randrange(32)}u))",
        f"__ballot_sync({mask}, {condition})",
        f"(u32)__any_sync({mask}, {condition})",
        f"__reduce_{s.chance.choice(('add', 'or', 'max'))}_sync({mask}, {value})",
        f"(u32)__popc(__ballot_sync({mask}, {condition}))",
    )
    s.write(f"u32 {word} = {s.chance.choice(told)};")
    tests = (f"{word} & 5", f"{word} > 3", f"({word} ^ {word} >> 7) & 1", f"{word} * 3 < {word}")
    s.block(f"if ({s.chance.choice(tests)}) {{", lambda: s.body(names, mask, False, depth + 1, 2))
    if s.chance.random() < 0.5:
        s.block("else {", lambda: s.body(names, mask, False, depth + 1, 1))
    s.write(f"{s.variable(names, 'u32')} += {word} * table[{word} & 15];")


def while_any(s: Statements, names: Names, mask: str, whole: bool, depth: int) -> None:
    """Lanes of a mask turn together until none wants to."""
    turn, end = s.new("t"), s.new("n")
    s.write(f"u32 {end} = ({s.e.value('u32', names, 1)}) & 3;")

    def turns() -> None:
        s.write(f"if (!__any_sync({mask}, {turn} < {end})) break;")
        s.write(f"if ({turn} < {end}) {s.variable(names, 'u32')} += {s.e.value('u32', names, 1)};")
        s.body(names, mask, False, depth + 1, 1)

    s.block(f"for (u32 {turn} = 0;; {turn}++) {{", turns)

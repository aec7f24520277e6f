"""Random expressions without effects, whose values C++ and CUDA both define.

Arithmetic wraps in unsigned types, shifts are masked, divisors are not zero, and floating-point
operations are those of IEEE 754, one rounding each.
"""

import random

from cuda_twin.intrinsics import GROUPS

FLOATS = ("f32", "f64")
INTRINSIC = 0.4  # of all operators
CONSTANTS = (0, 1, 2, 3, 5, 31, 32, 63, 255, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000)
REALS = ("0.0", "1.0", "-1.5", "3.0", "0.1", "1e10", "-1e-30", "16777216.0", "0.333")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")

UNARY = {
    "u32": (
        *("~{0}", "(0u - {0})", "(u32)__popc({0})", "(u32)__clz((i32){0})", "__brev({0})"),
        *("(u32)__ffs((i32){0})", "table[{0} & 15]", "(u32)({0} * {0})"),
    ),
    "u64": ("~{0}", "(0ull - {0})", "(u64)__popcll({0})", "(u64)__clzll((i64){0})", "({0} * {0})"),
    "f32": (
        "(- {0})",
        "fabsf({0})",
        "floorf({0})",
        "truncf({0})",
        "rintf({0})",
        "sqrtf(fabsf({0}))",
    ),
    "f64": ("(- {0})", "fabs({0})", "ceil({0})", "trunc({0})", "rint({0})", "sqrt(fabs({0}))"),
}
BINARY = {
    "u32": (
        *("({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} & {1})", "({0} | {1})", "({0} ^ {1})"),
        *("({0} << ({1} & 31))", "({0} >> ({1} & 31))", "({0} / ({1} | 1u))", "({0} % ({1} | 1u))"),
        *("(u32)((i32){0} >> ({1} & 31))", "(u32)((i32){0} / (i32)(({1} & 0xff) + 1))"),
        *("(u32)((i32){0} % -(i32)(({1} & 0xfff) + 2))", "__umulhi({0}, {1})"),
        *("(u32)__mulhi((i32){0}, (i32){1})", "smaller({0}, {1})", "larger({0}, {1})"),
        *("(u32)smaller((i32){0}, (i32){1})", "(u32)larger((i32){0}, (i32){1})"),
    ),
    "u64": (
        *("({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} & {1})", "({0} | {1})", "({0} ^ {1})"),
        *(
            "({0} << ({1} & 63))",
            "({0} >> ({1} & 63))",
            "({0} / ({1} | 1ull))",
            "({0} % ({1} | 5ull))",
        ),
        *("(u64)((i64){0} >> ({1} & 63))", "(u64)((i64){0} / (i64)(({1} & 0xfffff) + 1))"),
        *("__umul64hi({0}, {1})", "smaller({0}, {1})", "(u64)larger((i64){0}, (i64){1})"),
    ),
    "f32": ("({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} / {1})", "smaller({0}, {1})"),
    "f64": ("({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} / {1})", "larger({0}, {1})"),
}
TERNARY = {
    "u32": (
        *(
            "({0} * {1} + {2})",
            "(({0} & {1}) | (~{0} & {2}))",
            "__byte_perm({0}, {1}, {2} & 0x7777)",
        ),
        *(
            "__funnelshift_l({0}, {1}, {2})",
            "__funnelshift_r({0}, {1}, {2})",
            "__usad({0}, {1}, {2})",
        ),
        *("(u32)__dp4a((i32){0}, (i32){1}, (i32){2})", "({0} + {1} + {2})", "({0} ^ {1} ^ {2})"),
    ),
    "u64": ("({0} * {1} + {2})", "({0} + {1} + {2})", "(({0} ^ {1}) & {2})"),
    "f32": ("fmaf({0}, {1}, {2})",),
    "f64": ("fma({0}, {1}, {2})",),
}
CONVERSIONS = {
    "u32": (
        *(
            "(u32){u64}",
            "(u32)({u64} >> 32)",
            "(u32)(i32)(i8){u32}",
            "(u32)(u16){u32}",
            "bits({f32})",
        ),
        *("(u32)(i32)(i16){u64}", "(u32)__float2int_rz({f32})", "__float2uint_rz({f32})"),
        *(
            "(u32)__double2int_rz({f64})",
            "__double2uint_rz({f64})",
            "(u32)bits({f64})",
            "(u32)(u8){u32}",
        ),
    ),
    "u64": (
        *("(u64){u32}", "(u64)(i64)(i32){u32}", "((u64){u32} * {u32})", "bits({f64})"),
        *(
            "(u64)((i64)(i32){u32} * (i32){u32})",
            "((u64){u32} << 32 | {u32})",
            "(u64)(i64)(i16){u32}",
        ),
    ),
    "f32": ("(f32){u32}", "(f32)(i32){u32}", "(f32){u64}", "(f32){f64}", "(f32)(i64){u64}"),
    "f64": ("(f64){u32}", "(f64)(i32){u32}", "(f64){u64}", "(f64){f32}", "(f64)(i64){u64}"),
}
CONDITIONS = (
    *(
        "({u32} & {bit})",
        "(({u32} ^ {u32}) & {bit})",
        "({u32} < {u32})",
        "((i32){u32} < (i32){u32})",
    ),
    *("({u64} {c} {u64})", "((i64){u64} {c} (i64){u64})", "({f32} {c} {f32})", "({f64} {c} {f64})"),
    *(
        "(lane & {bit5})",
        "(lane < ({u32} & 31))",
        "((i8){u32} {c} (i16){u32})",
        "(me % 3 == {third})",
    ),
)


class Expressions:
    """Random texts of expressions over the variables of a scope, which others add to."""

    def __init__(self, chance: random.Random, depth: int, conditions: tuple[str, ...] = CONDITIONS):
        self.chance, self.depth, self.conditions = chance, depth, conditions

    def value(self, kind: str, names: dict[str, list[str]], depth: int | None = None) -> str:
        """An expression of a type; ``names`` are the variables that there are of each."""
        chance, depth = self.chance, min(self.depth, self.depth if depth is None else depth)
        if depth == 0 or chance.random() < 0.15:
            return self._leaf(kind, names)
        if chance.random() < INTRINSIC:
            group = chance.choice([group for group in GROUPS if kind in group])
            return f"({self.filled(chance.choice(group[kind]), names, depth - 1)})"
        forms, count = chance.choice(
            [(UNARY, 1), *[(BINARY, 2)] * 3, (TERNARY, 3), (CONVERSIONS, 0), (None, 2)]
        )
        if forms is None:
            yes, no = self.value(kind, names, depth - 1), self.value(kind, names, depth - 1)
            return f"({self.condition(names, depth - 1)} ? {yes} : {no})"
        form = chance.choice(forms[kind])
        if forms is CONVERSIONS:
            return f"({self.filled(form, names, depth - 1)})"
        return form.format(*(self.value(kind, names, depth - 1) for _ in range(count)))

    def condition(self, names: dict[str, list[str]], depth: int = 2) -> str:
        """A truth value."""
        chance = self.chance
        if depth > 0 and chance.random() < 0.25:
            both = self.condition(names, depth - 1), self.condition(names, depth - 1)
            return f"({both[0]} {chance.choice(('&&', '||'))} {both[1]})"
        return self.filled(chance.choice(self.conditions), names, max(depth - 1, 0))

    def filled(self, form: str, names: dict[str, list[str]], depth: int = 0) -> str:
        """A form with an expression for each operand."""
        for kind in BINARY:
            while "{" + kind + "}" in form:
                form = form.replace("{" + kind + "}", self.value(kind, names, depth), 1)
        chance = self.chance
        form = form.replace("{c}", chance.choice(COMPARISONS)).replace("{bit5}", str(self._bit(5)))
        return form.replace("{bit}", str(self._bit(12))).replace(
            "{third}", str(chance.randrange(3))
        )

    def _bit(self, most: int) -> int:
        return 1 << self.chance.randrange(most)

    def _leaf(self, kind: str, names: dict[str, list[str]]) -> str:
        chance = self.chance
        if names[kind] and chance.random() < 0.8:
            return chance.choice(names[kind])
        if kind in FLOATS:
            return chance.choice(REALS) + ("f" if kind == "f32" else "")
        number = chance.choice((chance.choice(CONSTANTS), chance.getrandbits(32)))
        return f"{number}u" if kind == "u32" else f"{number | chance.getrandbits(64)}ull"

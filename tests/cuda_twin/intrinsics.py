"""Forms of expressions that call intrinsics, halves and instructions of PTX, by their type."""

from itertools import product

MODES = ("rn", "rz", "ru", "rd")
WORD, LONG, REAL, DOUBLE = "{u32}", "{u64}", "{f32}", "{f64}"


def _calls(names: tuple[str, ...], *arguments: str, cast: str = "") -> tuple[str, ...]:
    return tuple(f"{cast}{name}({', '.join(arguments)})" for name in names)


def _modes(stems: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{stem}_{mode}" for stem, mode in product(stems, MODES))


_LANES = (
    *("add", "sub", "addss", "subss", "addus", "subus", "avgs", "avgu", "haddu", "absdiffs"),
    *("absdiffu", "maxs", "maxu", "mins", "minu", "cmpeq", "cmpne", "cmpgts", "cmpgeu", "cmplts"),
    *("cmpleu", "seteq", "setgts", "setltu"),
)
# Up to Ada nvcc 13.0 takes what __vsubus2 gives for no negative number, whatever its upper half is:
# half of it, as a signed word, is a shift without a sign in its PTX. For Hopper ptxas 13.0 makes
# (short)__vsub2(x, 3) of x alone; in a program with __vneg2 of a number it added 0 in its place.
_OF_BYTES = ("sub", "subus", "neg")
_OF_LANES, _OF_ONE = (
    [(name, 4 if name in _OF_BYTES else n) for name, n in product(names, (2, 4))]
    for names in (_LANES, ("abs", "absss", "neg", "negss"))
)
_SIGNED = "(i32){u32}"
INTEGERS = {
    "u32": (
        *_calls(("__hadd", "__rhadd", "__mul24"), _SIGNED, _SIGNED, cast="(u32)"),
        *_calls(("__uhadd", "__urhadd", "__umul24"), WORD, WORD),
        *_calls(("__sad",), _SIGNED, _SIGNED, WORD),
        *_calls(("__funnelshift_lc", "__funnelshift_rc"), WORD, WORD, "{u32} & 63"),
        *_calls(("__dp4a", "__dp2a_lo", "__dp2a_hi"), WORD, WORD, WORD),
        *_calls(("__dp2a_lo", "__dp2a_hi"), *[_SIGNED] * 3, cast="(u32)"),
        *("(u32)__ffsll((i64){u64})", "(u32)__clzll((i64){u64})", "(u32)__popcll({u64})"),
        *("(u32)abs((i32){u32} / 2)", "({u32} / 10)", "(u32)((i32){u32} % 7)", "(u32)({u64} % 97)"),
        *(
            "(({u32} >> ({u32} & 31)) & ((1u << ({u32} & 15)) - 1))",
            "(u32)((i16){u32} * (i8){u32})",
        ),
        *("(u32)(u8)((u8){u32} / ((u8){u32} | 1))", "(u32)((i16){u32} % (i16)(({u32} & 255) + 3))"),
        *("(u32)(u16)((u16){u32} << ({u32} & 7))", "(u32)((i8){u32} >> ({u32} & 7))"),
    ),
    "u64": (
        *_calls(("__brevll",), LONG),
        *("(u64)__mul64hi((i64){u64}, (i64){u64})", "(u64)__ffsll((i64){u64})"),
        *("({u64} % ((u64){u32} | 1))", "({u64} / ((u64)({u32} & 0xffff) + 1))", "({u64} / 10)"),
        *("(u64)((i64){u64} % (i64)({u32} | 1))", "(u64)((i64){u64} / -(i64)((u64){u32} + 2))"),
        *("({u64} >> ({u32} & 63) | {u64} << ({u32} & 63))", "({u64} % 1000000007)"),
        *("(u64)((i64){u64} < 0 ? -{u64} : {u64})", "(u64)smaller((i64){u64}, (i64){u64})"),
    ),
}
LANES = {
    "u32": (
        *_calls(tuple(f"__v{name}{n}" for name, n in _OF_LANES), WORD, WORD),
        *_calls(tuple(f"__v{name}{n}" for name, n in _OF_ONE), WORD),
        *_calls(("__vsadu4", "__vsads2"), WORD, WORD),
        *_calls(
            tuple(f"__vi{n}_s32" for n in ("addmax", "addmin", "max3", "min3")),
            *["(i32){u32} / 2"] * 3,  # a sum that overflows is not defined
            cast="(u32)",
        ),
        *_calls(
            tuple(f"__vi{n}_s32_relu" for n in ("addmax", "addmin", "min3")),
            *["(i32){u32} / 2"] * 3,
            cast="(u32)",
        ),
        *_calls(("__viaddmax_u32", "__viaddmin_u32", "__vimax3_s16x2"), *[WORD] * 3),
        *_calls(("__vimin3_u16x2", "__viaddmax_s16x2", "__viaddmin_u16x2"), *[WORD] * 3),
        *_calls(("__viaddmax_s16x2_relu",), *[WORD] * 3),
        *_calls(("__vimax_s32_relu",), _SIGNED, _SIGNED, cast="(u32)"),
        *_calls(("first_of_most", "first_of_least"), WORD, WORD),
    ),
}
FLOATS = {
    "u32": (
        *_calls(_modes(("__float2int",)), REAL, cast="(u32)"),
        *_calls(_modes(("__float2uint",)), REAL),
        *_calls(_modes(("__double2int",)), DOUBLE, cast="(u32)"),
        *_calls(_modes(("__double2uint",)), DOUBLE),
        *("(u32)isnan({f32})", "(u32)isinf({f64})", "(u32)ilogbf(1.0f + fabsf((f32){u32}))"),
        "(u32)(bits({f64}) >> 32)",
    ),
    "u64": (
        *_calls(_modes(("__float2ll",)), REAL, cast="(u64)"),
        *_calls(_modes(("__float2ull",)), REAL),
        *_calls(_modes(("__double2ll",)), DOUBLE, cast="(u64)"),
        *_calls(_modes(("__double2ull",)), DOUBLE),
    ),
    "f32": (
        *_calls(_modes(("__int2float",)), _SIGNED),
        *_calls(_modes(("__uint2float",)), WORD),
        *_calls(_modes(("__ll2float",)), "(i64){u64}"),
        *_calls(_modes(("__ull2float",)), LONG),
        *_calls(_modes(("__double2float",)), DOUBLE),
        *_calls(_modes(("__fadd", "__fsub", "__fmul", "__fdiv")), REAL, REAL),
        *_calls(_modes(("__fmaf",)), *[REAL] * 3),
        *_calls(_modes(("__fsqrt", "__frcp")), REAL),
        *_calls(("__saturatef", "ceilf", "roundf"), REAL),
        *("fmodf({f32}, {f32})", "remainderf({f32}, {f32})", "fdimf({f32}, {f32})"),
        *("copysignf({f32}, (f32)(i32){u32})", "__int_as_float((i32){u32})"),
        *("(f32)(u8){u32}", "(f32)(i16){u32}", "(f32)(i8){u64}", "(f32)(u16){u32}"),
        *("least_f32({f32}, {f32})", "most_f32({f32}, {f32})", "nextafterf({f32}, (f32){u32})"),
        *("(f32)({u32} >> 24)", "scalbnf({f32}, (i32)({u32} & 63) - 32)"),
    ),
    "f64": (
        *_calls(_modes(("__ll2double",)), "(i64){u64}"),
        *_calls(_modes(("__ull2double",)), LONG),
        *_calls(_modes(("__dadd", "__dmul", "__ddiv")), DOUBLE, DOUBLE),
        *_calls(_modes(("__fma",)), *[DOUBLE] * 3),
        *_calls(_modes(("__dsqrt", "__drcp")), DOUBLE),
        *("floor({f64})", "round({f64})", "(f64)(u8){u32}", "(f64)(i16){u32}"),
        *("fmod({f64}, {f64})", "least_f64({f64}, {f64})", "most_f64({f64}, {f64})"),
        *("copysign({f64}, (f64)(i32){u32})", "__longlong_as_double((i64){u64})"),
    ),
}
_BOTH = ("Half", "Brain")


def _halves(names: tuple[str, ...], *arguments: str) -> tuple[str, ...]:
    return _calls(tuple(f"half_{n}<{kind}>" for n in names for kind in _BOTH), *arguments)


HALVES = {
    "u32": (
        *_halves(("add", "sub", "mul", "min", "max", "add_sat", "mul_sat"), WORD, WORD),
        *_halves(("min_nan", "max_nan", "less", "ne", "ge_mask", "ltu_mask"), WORD, WORD),
        *_halves(("fma", "fma_sat", "fma_relu"), *[WORD] * 3),
        *_halves(("abs", "neg", "floor", "rint"), WORD),
        *_calls(
            ("half_to_i32_rn", "half_to_i16_rz", "half_to_u32_ru", "half_to_u16_rd"),
            WORD,
            cast="(u32)",
        ),
        *_calls(_modes(("half_of_f32",)), REAL),
        *_calls(("brain_of_f32_rn", "brain_of_f32_rz", "brain_of_f32_ru"), REAL),
        *("half_of_f64({f64})", "half_of_i32_rn((i32){u32})", "half_of_i32_rz((i32){u32})"),
        *("half_of_u16_ru((u16){u32})", "half_of_i16_rn((i16){u32})"),
        "brain_of_i32_rn((i32){u32})",
    ),
    "u64": ("(u64)half_to_i64_rz({u32})",),
    "f32": ("half_to_f32({u32})",),
}
_SHIFT = "({u32} & 63)"
# Of a word from a known place beyond its bits ptxas 13.0 makes -1, whatever its sign is.
_PLACE = "(({u32} ^ lane) & 63)"
PTX = {
    "u32": (
        # Of different words: ptxas 13.0 makes (lop3_xor(x, y, y) ^ x) & 2048 of 2048 & ~y.
        *_calls(
            ("lop3_xor", "lop3_most", "lop3_1d", "lop3_42"), WORD, f"{WORD} + lane", f"{WORD} ^ me"
        ),
        *_calls(("prmt",), *[WORD] * 3),
        *_calls(
            tuple(f"prmt_{n}" for n in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")), *[WORD] * 3
        ),
        *_calls(("bfind_u", "bfind_s", "bfind_shift", "cnot"), WORD),
        *_calls(("cvt_s8", "cvt_u8", "cvt_s16", "cvt_u16", "cvt_u32"), WORD),
        *_calls(("bfe_u",), WORD, _SHIFT, _SHIFT),
        *_calls(("bfe_s",), WORD, _PLACE, _SHIFT),
        *_calls(("bfe_u",), WORD, WORD, WORD),
        *_calls(("bfe_s",), WORD, f"{WORD} ^ lane", WORD),
        *_calls(("bfi",), WORD, WORD, _SHIFT, _SHIFT),
        *_calls(("mad_hi_s", "mad_hi_u", "mad_hi_sat", "mad24_lo", "mad24_hi"), *[WORD] * 3),
        *_calls(("mul24_hi", "add_sat", "sub_sat", "set_lt"), WORD, WORD),
        *_calls(("add_chain", "sub_chain", "mad_chain", "setp_xor", "setp_or"), *[WORD] * 4),
        *_calls(("sad_s", "set_and", "slct_s", "pack_u8", "pack_s8", "mad_u16"), *[WORD] * 3),
        *_calls(("szext_s", "szext_u", "shr_s16"), WORD, _SHIFT),
        *_calls(("szext_s", "szext_u"), WORD, WORD),
        *_calls(("bmsk_clamp", "bmsk_wrap"), _SHIFT, _SHIFT),
        *_calls(("bmsk_clamp", "bmsk_wrap", "pack_s16", "pack_u16", "mul_s16"), WORD, WORD),
        *_calls(("setp_unordered", "setp_number", "set_float", "tested"), REAL, REAL, WORD),
    ),
    "u64": (
        *_calls(("bfi_long", "bfe_long", "bfe_slong"), LONG, LONG, _SHIFT, _SHIFT),
        # ptxas takes more than eight bits of a position, unlike what PTX says
        *_calls(("bfi_long", "bfe_long", "bfe_slong"), LONG, LONG, *["{u32} & 255"] * 2),
    ),
    "f32": _calls(
        ("add_ftz_sat", "mul_sat", "fma_rz_sat", "fma_rm", "cvt_sat", "slct_f"), *[REAL] * 3
    ),
}
GROUPS = (INTEGERS, LANES, FLOATS, HALVES, PTX)

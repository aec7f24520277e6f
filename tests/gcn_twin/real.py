"""Twins of the floating-point operations of the vector unit, with NumPy and exact fractions."""

import functools
import math

import numpy as np

from gcn_twin.compare import Near, Within
from gcn_twin.whole import each
from ptx_twin.numbers import Real, decode, encode

single, double, wide = np.float32, np.float64, np.longdouble
LARGEST = np.finfo(single).max


def bits(x):
    return x.view(np.dtype(f"uint{8 * x.itemsize}"))


def flushed(x):
    small = np.abs(x) < np.finfo(x.dtype).tiny
    return np.where(small, np.copysign(x.dtype.type(0), x), x)


def f32(function):
    """The twin that takes and gives no subnormal numbers."""
    return lambda *arrays: flushed(function(*(flushed(a) for a in arrays)))


def fused(name, mode="rn"):
    """The exact x y + z, rounded once."""

    def one(x, y, z):
        a, b, c = (decode(v, name) for v in (x, y, z))
        sign = a.sign ^ b.sign
        if a.is_finite and b.is_finite and c.is_finite:
            total = a.value * b.value + c.value
            product_zero = not a.value * b.value
            agree = product_zero and not c.value and sign == c.sign
            zero_sign = sign if agree else int(mode == "rm")
            return encode(Real(int(total < 0) if total else zero_sign, abs(total)), name, mode)
        if a.is_nan or b.is_nan or c.is_nan:
            return encode(decode(-1, name), name)
        product_infinite = a.is_infinite or b.is_infinite
        invalid = product_infinite and (a.is_zero or b.is_zero)
        invalid |= product_infinite and c.is_infinite and c.sign != sign
        if invalid:
            return encode(decode(-1, name), name)
        return encode(Real(sign if product_infinite else c.sign, None), name)

    def twin(x, y, z):
        rows = zip(*(bits(v).tolist() for v in (x, y, z)))
        return np.array([one(*row) for row in rows], bits(x).dtype).view(x.dtype)

    return twin


def legacy(x, y):
    return np.where((x == 0) | (y == 0), single(0), flushed(x * y))


def extreme(largest):
    """Order of numbers, NaNs giving way, -0 below 0: by keys that are integers."""

    def two(x, y):
        width = 8 * x.itemsize
        top = np.array(1 << width - 1, f"uint{width}")
        keys = [np.where(bits(v) & top, ~bits(v), bits(v) | top) for v in (x, y)]
        first = keys[0] > keys[1] if largest else keys[0] < keys[1]
        chosen = np.where(first, x, y)
        return np.where(np.isnan(x), y, np.where(np.isnan(y), x, chosen))

    return lambda *values: functools.reduce(two, values)


least, greatest = extreme(False), extreme(True)


def median(x, y, z):
    strange = np.isnan(x) | np.isnan(y) | np.isnan(z)
    ordered = [sorted(row, key=lambda v: (v, math.copysign(1, v))) for row in zip(x, y, z)]
    return np.where(strange, least(x, y, z), np.array([row[1] for row in ordered], single))


def light(x, y, z):
    unusable = np.isnan(y) | (y <= -LARGEST) | np.isnan(z) | ~(flushed(z) > 0)
    return np.where(unusable, -LARGEST, legacy(flushed(x), flushed(y)))


FLOATING = {
    "v_add_f32": f32(np.add),
    "v_sub_f32": f32(np.subtract),
    "v_subrev_f32": f32(lambda x, y: y - x),
    "v_mul_f32": f32(np.multiply),
    "v_mul_legacy_f32": f32(legacy),
    "v_min_f32": least,
    "v_max_f32": greatest,
    "v_min_legacy_f32": lambda x, y: np.where(x < y, x, y),
    "v_max_legacy_f32": lambda x, y: np.where(x >= y, x, y),
    "v_fma_f32": f32(fused("f32")),
    "v_min3_f32": least,
    "v_max3_f32": greatest,
    "v_med3_f32": median,
    "v_mullit_f32": light,
    "v_trunc_f32": f32(np.trunc),
    "v_ceil_f32": f32(np.ceil),
    "v_floor_f32": f32(np.floor),
    "v_rndne_f32": f32(np.rint),
    "v_fract_f32": f32(lambda x: x - np.floor(x)),
}
for _name in ("mac", "mad", "madmk", "madak"):
    FLOATING[f"v_{_name}_f32"] = f32(lambda x, y, z: flushed(x * y) + z)
for _name in ("mac", "mad"):
    FLOATING[f"v_{_name}_legacy_f32"] = f32(lambda x, y, z: legacy(x, y) + z)

DOUBLE = {
    "v_add_f64": np.add,
    "v_mul_f64": np.multiply,
    "v_min_f64": least,
    "v_max_f64": greatest,
    "v_fma_f64": fused("f64"),
    "v_fract_f64": lambda x: x - np.floor(x),
}


def scaled(x, n):
    powers = np.clip(n.view(np.int32), -5000, 5000)
    if x.dtype == double:
        return np.ldexp(x, powers)
    return flushed(np.ldexp(flushed(x).astype(double), powers).astype(single))


def exponent(x):
    x = flushed(x) if x.dtype == single else x
    return np.where(np.isfinite(x), np.frexp(x)[1], 0).astype(np.int32).view(np.uint32)


def mantissa(x):
    x = flushed(x) if x.dtype == single else x
    return np.where(np.isfinite(x), np.frexp(x)[0], x)


EXPONENTS = {
    "v_ldexp_f32": scaled,
    "v_ldexp_f64": scaled,
    "v_frexp_exp_i32_f32": exponent,
    "v_frexp_exp_i32_f64": exponent,
    "v_frexp_mant_f32": mantissa,
    "v_frexp_mant_f64": mantissa,
}


# Functions with a bound


def near(function, units=1.0):
    """Of f32, by a function of f64; of f64, by one of more bits."""

    def twin(x):
        if x.dtype == double:
            return Near(function(x.astype(wide)), units)
        exact = function(flushed(x).astype(double))
        rounded = flushed(exact.astype(single))
        return Near(np.where(rounded == 0, rounded, exact), units)

    return twin


def clamped(function, legacy_zeros=False):
    def twin(x):
        exact, units = near(function)(x)
        kind = x.dtype.type
        bound = kind(0) if legacy_zeros else np.finfo(kind).max
        infinite = np.isinf(exact.astype(kind))
        return Near(np.where(infinite, np.copysign(bound, exact), exact), units)

    return twin


def inverse(x):
    return 1 / x


def inverse_root(x):
    return 1 / np.sqrt(x)


def turned(function):
    def twin(x):
        x = flushed(x).astype(double)
        inside = np.where((np.abs(x) > 256) & np.isfinite(x), 0, x)
        # Whole turns make no difference, and 2 pi times the rest is nearly exact.
        return Within(function(2 * np.pi * (inside - np.rint(inside))), 2.0**-23)

    return twin


ELEMENTARY = {
    "v_exp_f32": near(np.exp2, 0.55),
    "v_log_f32": near(np.log2, 0.55),
    "v_log_clamp_f32": clamped(np.log2),
    "v_rcp_f32": near(inverse, 0.5),
    "v_rcp_iflag_f32": near(inverse, 0.5),
    "v_rcp_clamp_f32": clamped(inverse),
    "v_rcp_legacy_f32": clamped(inverse, legacy_zeros=True),
    "v_rsq_f32": near(inverse_root, 0.51),
    "v_rsq_clamp_f32": clamped(inverse_root),
    "v_rsq_legacy_f32": clamped(inverse_root, legacy_zeros=True),
    "v_sqrt_f32": near(np.sqrt, 0.5),
    "v_sin_f32": turned(np.sin),
    "v_cos_f32": turned(np.cos),
    "v_rcp_f64": near(inverse, 0.5),
    "v_rcp_clamp_f64": clamped(inverse),
    "v_rsq_f64": near(inverse_root, 0.51),
    "v_rsq_clamp_f64": clamped(inverse_root),
    "v_sqrt_f64": near(np.sqrt, 0.5),
}


# Cubes


def _face(x, y, z):
    ax, ay, az = abs(x), abs(y), abs(z)
    return 2 if az >= ax and az >= ay else 1 if ay >= ax else 0


def _cube(function):
    def twin(x, y, z):
        rows = zip(*(flushed(v) for v in (x, y, z)))
        return np.array([function(_face(*row), *row) for row in rows], single)

    return twin


CUBE = {
    "v_cubeid_f32": _cube(lambda f, *v: 2 * f + (v[f] < 0)),
    "v_cubema_f32": f32(_cube(lambda f, *v: 2 * v[f])),
    "v_cubesc_f32": _cube(
        lambda f, x, y, z: ((z if x < 0 else -z), x, (-x if z < 0 else x))[f],
    ),
    "v_cubetc_f32": _cube(lambda f, x, y, z: (-y, (-z if y < 0 else z), -y)[f]),
}


# Conversions


def integer(low, high, rounding):
    """Saturated; a NaN is 0."""

    def twin(x):
        x = flushed(x).astype(double) if x.dtype == single else x
        whole = np.nan_to_num(np.clip(rounding(x), low, high), nan=0)
        return whole.astype(np.int64).astype(np.uint32)

    return twin


SIGNED, UNSIGNED = (-(2**31), 2**31 - 1), (0, 2**32 - 1)


def _pack(low, high):
    return low.astype(np.uint32) & 0xFFFF | high.astype(np.uint32) << 16


def half_toward_zero(x):
    patterns = [encode(decode(v, "f32"), "f16", "rz") for v in bits(flushed(x)).tolist()]
    nan = np.isnan(x)
    return np.where(nan, 0x7FFF, np.array(patterns)).astype(np.uint32)


def half(x):
    nan = np.isnan(x)
    return np.where(nan, 0x7FFF, bits(flushed(x).astype(np.float16))).astype(np.uint32)


def fractions(low, high):
    def part(x):
        steps = np.rint(np.clip(flushed(x).astype(double) * high, low, high))
        return np.nan_to_num(steps, nan=0).astype(np.int32)

    return lambda x, y: _pack(part(x), part(y))


def put_byte(x, place, into):
    byte = integer(0, 255, np.rint)(x)
    by = 8 * (place % 4)
    return into & ~(np.uint32(255) << by) | byte << by


CONVERT = {
    "v_cvt_u32_f32": integer(*UNSIGNED, np.trunc),
    "v_cvt_i32_f32": integer(*SIGNED, np.trunc),
    "v_cvt_u32_f64": integer(*UNSIGNED, np.trunc),
    "v_cvt_i32_f64": integer(*SIGNED, np.trunc),
    "v_cvt_flr_i32_f32": integer(*SIGNED, np.floor),
    "v_cvt_rpi_i32_f32": integer(*SIGNED, lambda x: np.floor(x + 0.5)),
    "v_cvt_f16_f32": half,
    "v_cvt_f32_f16": lambda x: bits_of_half(x).astype(single),
    "v_cvt_f32_u32": lambda x: x.astype(single),
    "v_cvt_f32_i32": lambda x: x.view(np.int32).astype(single),
    "v_cvt_f64_u32": lambda x: x.astype(double),
    "v_cvt_f64_i32": lambda x: x.view(np.int32).astype(double),
    "v_cvt_off_f32_i4": lambda x: ((x & 15 ^ 8).astype(single) - 8) / 16,
    "v_cvt_f64_f32": lambda x: flushed(x).astype(double),
    "v_cvt_f32_f64": lambda x: flushed(x.astype(single)),
    "v_cvt_pkrtz_f16_f32": lambda x, y: _pack(half_toward_zero(x), half_toward_zero(y)),
    "v_cvt_pknorm_i16_f32": fractions(-32767, 32767),
    "v_cvt_pknorm_u16_f32": fractions(0, 65535),
    "v_cvt_pk_u16_u32": each(lambda x, y: min(x, 65535) | min(y, 65535) << 16),
    "v_cvt_pk_i16_i32": lambda x, y: _pack(
        *(np.clip(v.view(np.int32), -32768, 32767) for v in (x, y))
    ),
    "v_cvt_pk_u8_f32": put_byte,
    "v_cvt_pkaccum_u8_f32": put_byte,
}
for _place in range(4):
    CONVERT[f"v_cvt_f32_ubyte{_place}"] = lambda x, k=_place: (x >> 8 * k & 255).astype(single)


def bits_of_half(x):
    return (x & 0xFFFF).astype(np.uint16).view(np.float16)


# Comparisons

_ORDERS = {
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lg": lambda x, y: (x < y) | (x > y),
    "o": lambda x, y: ~np.isnan(x) & ~np.isnan(y),
    "u": lambda x, y: np.isnan(x) | np.isnan(y),
    "f": lambda x, y: np.zeros(len(x), bool),
    "tru": lambda x, y: np.ones(len(x), bool),
}
for _order in ("lt", "le", "gt", "ge", "lg"):
    _ORDERS["n" + _order] = lambda x, y, o=_ORDERS[_order]: ~o(x, y)
_ORDERS["neq"] = lambda x, y: ~(x == y)
_WHOLE = {name: _ORDERS[name] for name in ("lt", "eq", "le", "gt", "ge", "f")}
_WHOLE |= {"ne": np.not_equal, "t": _ORDERS["tru"]}


def classes(x, wanted):
    """Whether the class of a number is among the bits of a word."""
    minus, zero, nan = np.signbit(x), x == 0, np.isnan(x)
    quiet = bits(x) >> np.array(22 if x.dtype == single else 51, bits(x).dtype) & 1
    small = np.abs(x) < np.finfo(x.dtype).tiny
    number = np.select([np.isinf(x), zero, small], [9, 6, 7], 8)
    number = np.where(nan, quiet, np.where(minus, 11 - number, number))
    return wanted >> number.astype(np.uint32) & 1 == 1


COMPARE = {}
for _type in (single, double):
    _suffix = f"f{8 * np.dtype(_type).itemsize}"
    for _order, _twin in _ORDERS.items():
        for _prefix in ("cmp", "cmpx", "cmps", "cmpsx"):
            COMPARE[f"v_{_prefix}_{_order}_{_suffix}"] = lambda x, y, t=_twin: t(
                *(flushed(v) if v.dtype == single else v for v in (x, y))
            )
    for _prefix in ("cmp", "cmpx"):
        COMPARE[f"v_{_prefix}_class_{_suffix}"] = classes
for _letter in "iu":
    for _width in (32, 64):
        for _order, _twin in _WHOLE.items():
            for _prefix in ("cmp", "cmpx"):
                COMPARE[f"v_{_prefix}_{_order}_{_letter}{_width}"] = (
                    lambda x, y, t=_twin, k=f"{_letter}{_width // 8}": t(
                        *(v.view(k) for v in (x, y))
                    )
                )

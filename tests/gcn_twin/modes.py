"""Twins of what depends on the float mode: exact fractions, rounded as a mode says."""

import numpy as np

from gcn_twin.real import bits, flushed, fused
from lockstep.execution.lanes.rounding import Rounding
from ptx_twin.numbers import Real, convert, encode

ROUNDINGS = {"rn": Rounding.NEAREST, "rp": Rounding.UP, "rm": Rounding.DOWN, "rz": Rounding.ZERO}


def _times(x, y, mode):
    """A product: what is added is a zero of its sign."""
    zero = np.where(np.signbit(x) ^ np.signbit(y), x.dtype.type(-0.0), x.dtype.type(0))
    return fused(f"f{8 * x.itemsize}", mode)(x, y, zero)


def _plus(x, y, mode):
    return fused(f"f{8 * x.itemsize}", mode)(x, np.ones_like(x), y)


def _converted(kind, source, target, mode):
    return lambda x: np.array([convert(v, source, target, mode) for v in bits(x).tolist()], kind)


def _from_integer(signed, mode):
    def twin(x):
        numbers = (x.view(np.int32) if signed else x).tolist()
        patterns = [encode(Real(int(n < 0), abs(n)), "f32", mode) for n in numbers]
        return np.array(patterns, np.uint32).view(np.float32)

    return twin


def _multiply_add(x, y, z, mode):
    """Without subnormal numbers, whatever the mode says of them."""
    product = flushed(_times(flushed(x), flushed(y), mode))
    return flushed(_plus(product, flushed(z), mode))


def twins(mode, keeps):
    """By mnemonic; ``mode``: rounding of f32, f64 has the next one; whether f32 are kept."""
    modes = list(ROUNDINGS)
    other = modes[(modes.index(mode) + 1) % len(modes)]

    def f32(function):
        if keeps:
            return function
        return lambda *arrays: flushed(function(*(flushed(a) for a in arrays)))

    def single(x):
        rounded = _converted(np.uint32, "f64", "f32", mode)(x).view(np.float32)
        return rounded if keeps else flushed(rounded)

    def half(x):
        return _converted(np.uint32, "f32", "f16", mode)(x if keeps else flushed(x))

    return {
        "v_add_f32": f32(lambda x, y: _plus(x, y, mode)),
        "v_sub_f32": f32(lambda x, y: _plus(x, -y, mode)),
        "v_mul_f32": f32(lambda x, y: _times(x, y, mode)),
        "v_fma_f32": f32(fused("f32", mode)),
        "v_mad_f32": lambda x, y, z: _multiply_add(x, y, z, mode),
        "v_add_f64": lambda x, y: _plus(x, y, other),
        "v_mul_f64": lambda x, y: _times(x, y, other),
        "v_fma_f64": fused("f64", other),
        "v_cvt_f32_f64": single,
        "v_cvt_f16_f32": half,
        "v_cvt_f32_u32": _from_integer(False, mode),
        "v_cvt_f32_i32": _from_integer(True, mode),
        "v_cvt_f64_f32": f32(lambda x: x.astype(np.float64)),
        "v_cmp_lt_f32": lambda x, y: x < y if keeps else flushed(x) < flushed(y),
        "v_trunc_f32": f32(np.trunc),
        "v_ceil_f32": f32(np.ceil),
        "v_frexp_mant_f32": lambda x: _frexp(x if keeps else flushed(x))[0],
        "v_frexp_exp_i32_f32": lambda x: _frexp(x if keeps else flushed(x))[1],
    }


def _frexp(x):
    fraction, exponent = np.frexp(x)
    finite = np.isfinite(x)
    return np.where(finite, fraction, x), np.where(finite, exponent, 0).astype(np.uint32)

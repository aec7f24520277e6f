"""Twins of the steps of a division, lane by lane as their definitions read."""

import math

import numpy as np

from gcn_twin.real import fused

FACTORS = {np.dtype("f4"): 64, np.dtype("f8"): 128}


def field(x):
    """The exponent's bits."""
    if x.dtype == np.float32:
        return x.view(np.uint32).astype(np.int64) >> 23 & 0xFF
    return (x.view(np.uint64) >> np.uint64(52) & np.uint64(0x7FF)).astype(np.int64)


def subnormal(x):
    return (x != 0) & (np.abs(x) < np.finfo(x.dtype).tiny)


def scale(x, y, z):
    """What ``v_div_scale`` gives: ``x`` and whether the quotient of z and y is scaled."""
    far, tiny = (96, 23) if x.dtype == np.float32 else (768, 53)
    one, by = x.dtype.type(1), FACTORS[x.dtype]
    inverse, quotient = subnormal(one / y), subnormal(z / y)
    results, scaled = [], []
    for row in zip(x, y, z, field(y), field(z), inverse, quotient):
        s0, s1, s2, e1, e2, vast, small = row
        flag, result = False, s0
        if s1 == 0 or s2 == 0:
            result = math.nan
        elif e2 - e1 >= far:
            flag = True
            if s0 == s1:
                result = np.ldexp(s0, by)
        elif subnormal(s1):
            result = np.ldexp(s0, by)
        elif vast and small:
            flag = True
            if s0 == s1:
                result = np.ldexp(s0, -by)  # not up, as it is printed
        elif vast:
            result = np.ldexp(s0, -by)
        elif small:
            flag = True
            if s0 == s2:
                result = np.ldexp(s0, by)
        elif e2 <= tiny:
            result = np.ldexp(s0, by)
        results.append(result)
        scaled.append(flag)
    return np.array(results, x.dtype), np.array(scaled)


def last_step(x, y, z, scaled):
    bias = 127 if x.dtype == np.float32 else 1023
    total = fused(f"f{8 * x.itemsize}")(x, y, z)
    by = np.where(field(z) > bias, FACTORS[x.dtype], -FACTORS[x.dtype])
    return np.where(scaled, np.ldexp(total, by), total)


def fix(x, y, z):
    lost = -150 if x.dtype == np.float32 else -1075
    results = []
    for s0, s1, s2, apart in zip(x, y, z, field(z) - field(y)):
        sign = math.copysign(1, s1) * math.copysign(1, s2)
        if np.isnan(s2 / s1):
            result = math.nan
        elif s1 == 0 or np.isinf(s2):
            result = math.copysign(math.inf, sign)
        elif np.isinf(s1) or s2 == 0 or apart < lost:
            result = math.copysign(0, sign)
        else:
            result = math.copysign(math.inf if np.isnan(s0) else s0, sign)
        results.append(result)
    return np.array(results, x.dtype)


DIVISION = {}
for _kind in ("f32", "f64"):
    DIVISION |= {
        f"v_div_scale_{_kind}": scale,
        f"v_div_fmas_{_kind}": last_step,
        f"v_div_fixup_{_kind}": fix,
    }

"""Each step of a division against its definition, and quotients that all of them together give."""

import numpy as np
import pytest

from gcn_twin import division
from gcn_twin.compare import differences
from gcn_twin.operands import cases
from gcn_twin.run import on_lanes
from lockstep.execution.gcn.arithmetic import Arithmetic
from lockstep.execution.gcn.division import DIVISION
from lockstep.execution.gcn.vector import VECTOR
from lockstep.execution.lanes.floating import negate
from lockstep.execution.lanes.types import F32, F64, I32

FLOATS = {np.float32: F32, np.float64: F64}


@pytest.fixture
def quotients(columns_and_lanes, rng):
    """Function from a type to numerators and denominators: edges, and near to each other."""

    def make(kind):
        y, z, _ = (column.copy() for column in columns_and_lanes[0][FLOATS[kind]])
        last = np.finfo(kind).maxexp - 1
        y[-300:] = np.ldexp(rng.uniform(1, 2, 300), rng.integers(-last, last, 300))
        z[-300:] = np.ldexp(rng.uniform(1, 2, 300), rng.integers(-last, last, 300))
        y[-100:] = rng.integers(1, 100, 100)
        z[-100:] = rng.integers(1, 100, 100)
        return y, z

    return make


@pytest.mark.parametrize("scaled", ["denominator", "numerator", "neither"])
def test_steps_are_those_of_their_twins(columns_and_lanes, quotients, scaled):
    columns, active = columns_and_lanes
    applied = cases(DIVISION, columns)
    for kind, name in ((np.float32, "f32"), (np.float64, "f64")):
        y, z = quotients(kind)
        first = {"denominator": y, "numerator": z, "neither": columns[FLOATS[kind]][2]}[scaled]
        for operation in ("scale", "fixup"):
            name_of = f"v_div_{operation}_{name}"
            applied[name_of] = (DIVISION[name_of], [first, y, z])
    assert differences(on_lanes(applied, active), division.DIVISION, applied, active) == []


def _quotient(kind):
    """``z / y`` as compilers for the hardware spell it."""
    fma, inverse = VECTOR[f"v_fma_{kind.name}"], VECTOR[f"v_rcp_{kind.name}"]
    scale, last, fix = (
        DIVISION[f"v_div_{name}_{kind.name}"] for name in ("scale", "fmas", "fixup")
    )

    def emit(b, y, z):
        one = b.constant(kind, 1.0)
        bottom, _ = scale(b, y, y, z)
        top, scales = scale(b, z, y, z)
        minus = negate(b, bottom)
        near = inverse(b, bottom)
        for _ in range(2):
            near = fma(b, near, fma(b, minus, near, one), near)
        product = VECTOR[f"v_mul_{kind.name}"](b, top, near)
        rest = fma(b, minus, product, top)
        if kind == F32:
            product = fma(b, rest, near, product)
            rest = fma(b, minus, product, top)
        return fix(b, last(b, rest, near, product, scales), y, z)

    return Arithmetic(emit, (kind, kind), (kind,))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_quotients_are_exact(quotients, kind):
    """But for subnormal ones, which are rounded twice in f64 and zeros in f32.

    The steps of f32 want subnormal numbers, too, for numerators near to these.
    """
    y, z = quotients(kind)
    active = np.ones(len(y), bool)
    [found] = on_lanes({"quotient": (_quotient(FLOATS[kind]), [y, z])}, active)["quotient"]
    with np.errstate(all="ignore"):
        exact = z / y
    tiny = np.finfo(kind).tiny
    usual = ~division.subnormal(exact) & ~division.subnormal(y) & ~division.subnormal(z)
    usual |= np.isnan(exact)
    usual &= np.isnan(z) | (division.field(z) > 50) | (z == 0)
    if kind == np.float64:
        usual = ~division.subnormal(exact)
        near = np.abs(found[~usual] - exact[~usual]) <= np.nextafter(0, 1)
        assert near.all() and len(near) > 5
    wrong = usual & (found != exact) & ~(np.isnan(found) & np.isnan(exact))
    assert [(z[k], y[k], found[k], exact[k]) for k in np.flatnonzero(wrong)] == []
    assert np.count_nonzero(usual & (np.abs(exact) >= tiny)) > 300


def test_payloads_of_replaced_quotients():
    """NaNs come through, quiet; what is no quotient is the negative NaN."""
    y = np.array([0x7F800001, 0x3F800000, 0, 0x7F800000], np.uint32)
    z = np.array([0x3F800000, 0xFFC12345, 0x80000000, 0xFF800000], np.uint32)
    fix = DIVISION["v_div_fixup_f32"]
    bits = Arithmetic(lambda b, *v: b.cast(fix(b, *v), I32), (I32, I32, I32), (I32,))
    columns = [np.resize(v, 64) for v in (y, y, z)]
    [found] = on_lanes({"fix": (bits, columns)}, np.ones(64, bool))["fix"]
    assert [hex(v) for v in found[:4]] == ["0x7fc00001", "0xffc12345", "0xffc00000", "0xffc00000"]

"""Cases of the floating-point instructions."""

from ptx_twin.case import simple, variants

MODES = "rn rz rm rp"
FLUSH = "_ ftz"
HALVES = "f16 f16x2"
BRAINS = "bf16 bf16x2"


def exact_single():
    names = variants("add sub mul", "_ " + MODES, FLUSH, "_ sat")
    yield from simple(names, "f32")
    yield from simple(variants("fma mad", MODES, FLUSH, "_ sat"), "f32", "t t t")
    yield from simple(variants("div", MODES, FLUSH), "f32")
    yield from simple(variants("rcp sqrt", MODES, FLUSH), "f32", "t")
    yield from simple(variants("abs neg", FLUSH), "f32", "t")
    yield from simple(variants("min max", FLUSH, "_ NaN", "_ xorsign.abs"), "f32", sm=86)


def exact_double():
    yield from simple(variants("add sub mul", "_ " + MODES), "f64")
    yield from simple(variants("div", MODES), "f64")
    yield from simple(variants("fma mad", MODES), "f64", "t t t")
    yield from simple(variants("rcp sqrt", MODES), "f64", "t")
    yield from simple("rcp.rn.ftz rcp.rp.ftz", "f64", "t")
    yield from simple("abs neg", "f64", "t")
    yield from simple("min max copysign", "f64")


def bit_patterns():
    yield from simple("copysign", "f32")
    tests = "finite infinite number notanumber normal subnormal"
    yield from simple(variants("testp", tests), "f32 f64", "t", "p")


def approximate():
    single = {"check": "bound"}
    yield from simple(variants("div.approx div.full", FLUSH), "f32", "t t:divisor", **single)
    yield from simple(variants("rcp.approx sqrt.approx", FLUSH), "f32", "t", **single)
    yield from simple(variants("rsqrt.approx lg2.approx", FLUSH), "f32", "t", **single)
    yield from simple(variants("ex2.approx", FLUSH), "f32", "t:exponent", **single)
    yield from simple(variants("sin.approx cos.approx", FLUSH), "f32", "t:angle", **single)
    yield from simple("tanh.approx", "f32", "t:exponent", sm=75, **single)
    yield from simple("rcp.approx.ftz rsqrt.approx.ftz rsqrt.approx", "f64", "t", **single)
    yield from simple("ex2.approx", HALVES, "t:exponent", sm=75, **single)
    yield from simple("tanh.approx", HALVES, "t:exponent", sm=75, **single)
    yield from simple("ex2.approx.ftz tanh.approx", BRAINS, "t:exponent", sm=90, **single)


def halves():
    yield from simple(variants("add sub mul", "_ rn", FLUSH, "_ sat"), HALVES)
    yield from simple(variants("fma.rn", FLUSH, "_ sat relu"), HALVES, "t t t", sm=80)
    yield from simple(variants("add sub mul", "_ rn"), BRAINS, sm=90)
    yield from simple("fma.rn fma.rn.relu", BRAINS, "t t t", sm=80)
    yield from simple(variants("abs neg", FLUSH), HALVES, "t")
    yield from simple("abs neg", BRAINS, "t", sm=80)
    names = variants("min max", FLUSH, "_ NaN", "_ xorsign.abs")
    yield from simple(names, HALVES, sm=86)
    yield from simple(variants("min max", "_ NaN", "_ xorsign.abs"), BRAINS, sm=86)


def cases():
    for family in (exact_single, exact_double, bit_patterns, approximate, halves):
        yield from family()

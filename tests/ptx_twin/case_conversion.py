"""Cases of cvt and cvt.pack."""

from ptx_twin.case import Case

INTEGERS = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"]
FLOATS = ["f16", "f32", "f64"]
MODES = ["rn", "rz", "rm", "rp"]
WHOLE = ["rni", "rzi", "rmi", "rpi"]
ORDER = {"f16": 0, "bf16": 0, "f32": 1, "f64": 2}


def one(name, target, source, count=1, **options):
    sources = ", ".join(f"{{a{i}}}" for i in range(count))
    return Case(name, f"{name} {{r0}}, {sources};", (target,), (source,) * count, **options)


def holds(target, source):
    """Whether every number of one integer type is one of the other: nothing to saturate."""
    wider = int(target[1:]) > int(source[1:])
    return source == target or (wider and (source[0] == "u" or target[0] == "s"))


def between_integers():
    for source in INTEGERS:
        for target in INTEGERS:
            yield one(f"cvt.{target}.{source}", target, source)
            if not holds(target, source):
                yield one(f"cvt.sat.{target}.{source}", target, source)


def to_integers():
    for source in FLOATS:
        for target in INTEGERS:
            for mode in WHOLE:
                yield one(f"cvt.{mode}.{target}.{source}", target, source)
        yield one(f"cvt.rzi.sat.s32.{source}", "s32", source)
    for target in ("s32", "u64", "s8"):
        yield one(f"cvt.rpi.ftz.{target}.f32", target, "f32")


def from_integers():
    for source in INTEGERS:
        for target in FLOATS:
            for mode in MODES:
                yield one(f"cvt.{mode}.{target}.{source}", target, source)
    yield one("cvt.rn.sat.f32.s32", "f32", "s32")
    for source in INTEGERS[2:]:
        for mode in MODES:
            yield one(f"cvt.{mode}.bf16.{source}", "bf16", source, sm=90)


def to_integers_from_brain():
    for target in INTEGERS[2:]:
        for mode in WHOLE:
            yield one(f"cvt.{mode}.{target}.bf16", target, "bf16", sm=90)


def between_floats():
    for source in FLOATS:
        for target in FLOATS:
            yield from float_pair(source, target)
    for mode in WHOLE:
        yield one(f"cvt.{mode}.ftz.f32.f32", "f32", "f32")
    yield one("cvt.ftz.f32.f16", "f32", "f16")
    yield one("cvt.rn.ftz.f16.f32", "f16", "f32")
    yield one("cvt.rn.ftz.f32.f64", "f32", "f64")
    yield one("cvt.ftz.f64.f32", "f64", "f32")
    yield one("cvt.ftz.sat.f32.f32", "f32", "f32")


def float_pair(source, target):
    narrows = ORDER[target] < ORDER[source]
    modes = MODES if narrows else ([*WHOLE, ""] if source == target else [""])
    if source == target == "f16":
        modes = WHOLE
    for mode in modes:
        for sat in ("", "sat"):
            words = [word for word in ("cvt", mode, sat, target, source) if word]
            yield one(".".join(words), target, source)


def brains():
    for mode in ("rn", "rz"):
        for relu in ("", ".relu"):
            for target in ("bf16", "f16"):
                if relu or target == "bf16":
                    yield one(f"cvt.{mode}{relu}.{target}.f32", target, "f32", sm=80)
                name = f"cvt.{mode}{relu}.{target}x2.f32"
                yield one(name, f"{target}x2", "f32", 2, sm=80)
            yield one(f"cvt.{mode}{relu}.tf32.f32", "tf32", "f32", sm=90)
    for name in ("cvt.rm.bf16.f64", "cvt.rn.bf16.f64", "cvt.rn.bf16.f16", "cvt.rz.bf16.f16"):
        yield one(name, "bf16", name.split(".")[-1], sm=90)
    for target in ("f32", "f64"):
        yield one(f"cvt.{target}.bf16", target, "bf16", sm=90)
    for name in ("cvt.rn.f16.bf16", "cvt.rm.f16.bf16", "cvt.f16.bf16"):
        yield one(name, "f16", "bf16", sm=90)
    yield one("cvt.bf16.f16", "bf16", "f16", sm=90)
    yield one("cvt.rna.tf32.f32", "tf32", "f32", sm=80)
    for mode in WHOLE:
        yield one(f"cvt.{mode}.bf16.bf16", "bf16", "bf16", sm=90)


def eights():
    for form in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            yield one(f"cvt.rn.satfinite{relu}.{form}.f32", form, "f32", 2, sm=89)
            yield one(f"cvt.rn.satfinite{relu}.{form}.f16x2", form, "f16x2", sm=89)
            yield one(f"cvt.rn{relu}.f16x2.{form}", "f16x2", form, sm=89)


def packs():
    for target in ("s16", "u16"):
        name = f"cvt.pack.sat.{target}.s32"
        yield Case(name, f"{name} {{r0}}, {{a0}}, {{a1}};", ("b32",), ("s32:near",) * 2, sm=72)
    for target in ("s8", "u8"):
        name = f"cvt.pack.sat.{target}.s32.b32"
        text = f"{name} {{r0}}, {{a0}}, {{a1}}, {{a2}};"
        yield Case(name, text, ("b32",), ("s32:near", "s32:near", "b32"), sm=72)
    for target in ("s4", "u4", "s2", "u2"):
        name = f"cvt.pack.sat.{target}.s32.b32"
        text = f"{name} {{r0}}, {{a0}}, {{a1}}, {{a2}};"
        yield Case(name, text, ("b32",), ("s32:near", "s32:near", "b32"), sm=75)


def cases():
    families = (
        between_integers,
        to_integers,
        to_integers_from_brain,
        from_integers,
        between_floats,
        brains,
        eights,
        packs,
    )
    for family in families:
        yield from family()

"""Cases of the video instructions."""

from ptx_twin.case import Case, variants

SIGNS = "u32 s32"
TYPES = variants(SIGNS, SIGNS, SIGNS)
ORDERS = "eq ne lt le gt ge"
PARTS = [("b0", "h1"), ("b3", "b1"), ("h0", "b2")]
NEGATIONS = [("", "", ""), ("-", "", ""), ("-", "-", ""), ("", "", "-")]


def one(name, a="", b="", c=False, d="", key=""):
    """A case with selectors of both operands and the result, and maybe a third operand."""
    suffixes = [f".{s}" if s else "" for s in (d, a, b)]
    text = f"{name} {{r0}}{suffixes[0]}, {{a0}}{suffixes[1]}, {{a1}}{suffixes[2]}"
    text += ", {a2};" if c else ";"
    note = " ".join(word for word in (key, d, a, b) if word)
    return Case(f"{name} {note}".strip(), text, ("b32",), ("b32",) * (3 if c else 2), rows=48)


def scalars():
    for base in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        for types in TYPES.split():
            yield one(f"{base}.{types}")
            yield one(f"{base}.{types}.sat")
        for types in ("u32.u32.s32", "s32.s32.u32"):
            for second in ("add", "min", "max"):
                yield one(f"{base}.{types}.{second}", "b1", "", True)
                yield one(f"{base}.{types}.sat.{second}", "", "h0", True)
            for place in ("b0", "b3", "h1"):
                yield one(f"{base}.{types}", "h0", "b2", True, place)
                yield one(f"{base}.{types}.sat", "h0", "", True, place)
    for a, b in PARTS:
        yield one("vadd.s32.s32.u32", a, b)


def comparisons():
    for types in variants(SIGNS, SIGNS, ORDERS).split():
        yield one(f"vset.{types}")
    yield one("vset.u32.s32.lt", "b1", "", True, "b2")
    for second in ("add", "min", "max"):
        yield one(f"vset.s32.u32.ge.{second}", "", "h1", True)


def shifts():
    for base in ("vshl", "vshr"):
        for types in variants(SIGNS, SIGNS, "u32", "_ sat", "clamp wrap").split():
            yield one(f"{base}.{types}", "", "b0")
        yield one(f"{base}.s32.u32.u32.clamp", "", "", False, "", "far")
        yield one(f"{base}.s32.u32.u32.wrap.add", "h1", "", True)
        yield one(f"{base}.u32.s32.u32.sat.clamp.max", "b1", "b2", True)


def products():
    for types in variants(SIGNS, SIGNS, SIGNS, "_ sat", "_ shr7 shr15").split():
        yield one(f"vmad.{types}", "", "", True)
    for signs in NEGATIONS[1:]:
        marks = [sign + name for sign, name in zip(signs, ("{a0}.h1", "{a1}", "{a2}"))]
        for name in ("vmad.s32.s32.s32.sat", "vmad.s32.u32.u32.shr7"):
            text = f"{name} {{r0}}, {', '.join(marks)};"
            yield Case(f"{name} {'_'.join(s or '+' for s in signs)}", text, ("b32",), ("b32",) * 3)
    yield one("vmad.u32.u32.u32.po", "", "", True)
    yield one("vmad.s32.s32.u32.po.sat.shr15", "b2", "h0", True)


def packed():
    for count in (2, 4):
        for base in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"):
            for types in variants("u32 s32", "u32 s32", "u32 s32", "_ sat add").split():
                yield one(f"{base}{count}.{types}", "", "", True)
        for types in variants(SIGNS, SIGNS, ORDERS, "_ add").split():
            yield one(f"vset{count}.{types}", "", "", True)
    yield one("vadd2.s32.u32.s32", "h20", "h33", True, "h0")
    yield one("vsub2.u32.s32.u32.sat", "h31", "h02", True, "h1")
    yield one("vabsdiff4.u32.u32.u32.add", "b7520", "b0123", True, "b310")
    yield one("vmin4.s32.s32.s32", "b4321", "b7777", True, "b2")


def cases():
    for family in (scalars, comparisons, shifts, products, packed):
        yield from family()

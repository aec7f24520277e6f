"""Cases of the integer, logic, shift and bit-field instructions."""

from ptx_twin.case import Case, simple

INTEGERS = "u16 s16 u32 s32 u64 s64"
SIGNED = "s16 s32 s64"
WORDS = "u32 s32"
BITS = "b16 b32 b64"
TABLES = (0x00, 0x80, 0x96, 0xE8, 0xCA, 0x1B, 0xFF)
MODES = ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]


def arithmetic():
    yield from simple("add sub mul.lo mul.hi min max", INTEGERS)
    yield from simple("add.sat sub.sat", "s32")
    yield from simple("add min max", "u16x2 s16x2", sm=90)
    yield from simple("min.relu max.relu", "s16x2 s32", sm=90)
    yield from simple("mul.wide", "u16 s16 u32 s32", results="w")
    yield from simple("mad.lo mad.hi sad", INTEGERS, "t t t")
    yield from simple("mad.wide", "u16 s16 u32 s32", "t t w", "w")
    yield from simple("mad.hi.sat", "s32", "t t t")
    yield from simple("mul24.lo mul24.hi", WORDS)
    yield from simple("mad24.lo mad24.hi", WORDS, "t t t")
    yield from simple("mad24.hi.sat", "s32", "t t t")
    yield from simple("div rem", INTEGERS, check="divisor")
    yield from simple("abs neg", SIGNED, "t")


def bit_fields():
    yield from simple("popc clz", "b32 b64", "t", "u32")
    yield from simple("bfind bfind.shiftamt", "u32 s32 u64 s64", "t", "u32")
    yield from simple("brev", "b32 b64", "t")
    yield from simple("fns", "b32", "t b32:lane s32:offset")
    yield from simple("bfe", "u32 s32 u64 s64", "t n n")
    yield from simple("bfi", "b32 b64", "t t n n")
    yield from simple("szext.clamp szext.wrap", WORDS, "t n")
    yield from simple("bmsk.clamp bmsk.wrap", "b32", "n n")


def dot_products():
    for one in ("u32", "s32"):
        for other in ("u32", "s32"):
            kinds = one, other, "s32" if "s32" in (one, other) else "u32"
            for opcode in ("dp4a", "dp2a.lo", "dp2a.hi"):
                name = f"{opcode}.{one}.{other}"
                yield Case(name, name + " {r0}, {a0}, {a1}, {a2};", kinds[2:], kinds)


def logic():
    yield from simple("and or xor", f"pred {BITS}")
    yield from simple("not", f"pred {BITS}", "t")
    yield from simple("cnot", BITS, "t")
    for table in TABLES:
        text = f"lop3.b32 {{r0}}, {{a0}}, {{a1}}, {{a2}}, {table};"
        yield Case(f"lop3.b32 {table:#04x}", text, ("b32",), ("b32",) * 3)
    for word in ("or", "and"):
        text = f"lop3.{word}.b32 {{r0}}|{{r1}}, {{a0}}, {{a1}}, {{a2}}, 0x80, {{a3}};"
        yield Case(f"lop3.{word}.b32", text, ("b32", "pred"), ("b32",) * 3 + ("pred",))


def shifts():
    yield from simple("shl", BITS, "t n")
    yield from simple("shr", f"{BITS} {INTEGERS}", "t n")
    yield from simple("shf.l.clamp shf.l.wrap shf.r.clamp shf.r.wrap", "b32", "t t n")
    yield from simple("prmt", "b32", "t t b32:selector")
    for mode in MODES:
        text = f"prmt.b32.{mode} {{r0}}, {{a0}}, {{a1}}, {{a2}};"
        yield Case(f"prmt.b32.{mode}", text, ("b32",), ("b32", "b32", "b32:count"))


def carries():
    """Chains of three words: the flag is written, passed on, and read."""
    for opcode in ("add", "sub"):
        for kind in ("u32", "s32", "u64", "s64"):
            text = (
                f"{opcode}.cc.{kind} {{r0}}, {{a0}}, {{a1}};"
                f" {opcode}c.cc.{kind} {{r1}}, {{a2}}, {{a3}};"
                f" {opcode}c.{kind} {{r2}}, {{a4}}, {{a5}};"
            )
            yield Case(f"{opcode}c.cc.{kind}", text, (kind,) * 3, (kind,) * 6)
    for kind in ("u32", "u64"):
        for first, second in (("sub", "add"), ("add", "sub")):
            text = (
                f"{first}.cc.{kind} {{r0}}, {{a0}}, {{a1}};"
                f" {second}c.{kind} {{r1}}, {{a2}}, {{a3}};"
            )
            yield Case(f"{second}c.{kind} after {first}.cc", text, (kind,) * 2, (kind,) * 4)
    for kind in ("u32", "s32", "u64", "s64"):
        for first, second in (("lo", "hi"), ("hi", "lo")):
            text = (
                f"mad.{first}.cc.{kind} {{r0}}, {{a0}}, {{a1}}, {{a2}};"
                f" madc.{second}.cc.{kind} {{r1}}, {{a0}}, {{a1}}, {{a3}};"
                f" madc.{first}.{kind} {{r2}}, {{a0}}, {{a1}}, {{a3}};"
            )
            yield Case(f"madc.{second}.cc.{kind}", text, (kind,) * 3, (kind,) * 4)


def cases():
    for family in (arithmetic, bit_fields, dot_products, logic, shifts, carries):
        yield from family()

"""Cases of comparison, selection, conversion and plain data movement."""

from ptx_twin.case import Case, simple, variants

ORDERS = "eq ne lt le gt ge"
ORDERS_OF_BITS = "eq ne"
UNSIGNED = "lo ls hi hs"
FLOAT_ORDERS = ORDERS + " equ neu ltu leu gtu geu num nan"
INTEGER = {"u": f"{ORDERS} {UNSIGNED}", "s": ORDERS, "b": ORDERS_OF_BITS}
INTEGER_TYPES = ["u16", "u32", "u64", "s16", "s32", "s64", "b16", "b32", "b64"]
PAIR = "{r0}|{r1}, {a0}, {a1}, {a2}"


def setp():
    for kind in INTEGER_TYPES:
        yield from simple(variants("setp", INTEGER[kind[0]]), kind, results="p")
    for kind in ("f32", "f64", "f16"):
        yield from simple(variants("setp", FLOAT_ORDERS), kind, results="p")
    yield from simple(variants("setp", FLOAT_ORDERS), "bf16", results="p", sm=90)
    yield from simple(variants("setp", FLOAT_ORDERS, "ftz"), "f32 f16", results="p")
    packed = {"results": "p p", "form": "{r0}|{r1}, {a0}, {a1}"}
    yield from simple(variants("setp", FLOAT_ORDERS), "f16x2", **packed)
    yield from simple(variants("setp", FLOAT_ORDERS), "bf16x2", sm=90, **packed)
    combined = variants("setp", "lt ne", "and or xor")
    yield from simple(combined, "u32 s64 f32 f64", "t t p", "p p", PAIR)
    yield from simple(combined, "s32", "t t p", "p p", PAIR.replace("{a2}", "!{a2}"))
    yield from simple(combined, "f16x2", "t t p", "p p", PAIR)


def set_():
    for target in ("u32", "s32", "f32"):
        for kind in INTEGER_TYPES:
            yield from simple(variants("set", INTEGER[kind[0]], target), kind, results=target)
        for kind in ("f32", "f64"):
            yield from simple(variants("set", FLOAT_ORDERS, target), kind, results=target)
    for target in ("f16", "u16", "s16", "u32", "s32"):
        yield from simple(variants("set", FLOAT_ORDERS, target), "f16", results=target)
    names = variants("set", FLOAT_ORDERS, "f16x2")
    yield from simple(names, "f16x2", results="f16x2")
    names = variants("set", "lt ne geu", "bf16 u16 s16 u32 s32")
    for name in names.split():
        yield from simple(name, "bf16", results=name.split(".")[-1], sm=90)
    yield from simple("set.lt.bf16x2 set.neu.bf16x2", "bf16x2", sm=90)
    three = {"operands": "t t p", "form": "{r0}, {a0}, {a1}, {a2}"}
    yield from simple(variants("set.lt", "and or xor", "u32"), "s32 f32", results="u32", **three)


def select():
    yield from simple("selp", f"{' '.join(INTEGER_TYPES)} f32 f64", "t t p")
    for control in ("s32", "f32", "ftz.f32"):
        for kind in (*INTEGER_TYPES, "f32", "f64"):
            name = f"slct.{kind}.{control}"
            if control == "ftz.f32":
                name = f"slct.ftz.{kind}.f32"
            sources = (kind, kind, control.split(".")[-1])
            yield Case(name, name + " {r0}, {a0}, {a1}, {a2};", (kind,), sources)


def move():
    yield from simple("mov", f"pred {' '.join(INTEGER_TYPES)} f32 f64", "t")
    packs = (("b32", "b16", 2), ("b64", "b32", 2), ("b64", "b16", 4))
    for whole, part, count in packs:
        names = [f"{{a{i}}}" for i in range(count)]
        pack = f"mov.{whole} {{r0}}, {{{{{', '.join(names)}}}}};"
        yield Case(f"mov.{whole} pack {part}", pack, (whole,), (part,) * count)
        names = [f"{{r{i}}}" for i in range(count)]
        unpack = f"mov.{whole} {{{{{', '.join(names)}}}}}, {{a0}};"
        yield Case(f"mov.{whole} unpack {part}", unpack, (part,) * count, (whole,))
    yield Case("mov.b32 sink", "mov.b32 {{_, {r0}}}, {a0};", ("b16",), ("b32",))


def immediates():
    """Constants in operand positions, also of a precision that the type has not."""
    texts = {
        "add.f32 immediate": ("add.f32 {r0}, {a0}, 0f3FC00000;", "f32"),
        "add.f32 decimal": ("add.f32 {r0}, {a0}, 0.1;", "f32"),
        "add.f32 double": ("add.f32 {r0}, {a0}, 0d3FB999999999999A;", "f32"),
        "add.f64 immediate": ("add.f64 {r0}, {a0}, 0d400921FB54442D18;", "f64"),
        "add.s32 immediate": ("add.s32 {r0}, {a0}, -7;", "s32"),
        "add.s64 immediate": ("add.s64 {r0}, {a0}, -0x123456789;", "s64"),
        "and.b32 immediate": ("and.b32 {r0}, {a0}, 0xF0F0F0F0U;", "b32"),
        "mul.lo.u16 immediate": ("mul.lo.u16 {r0}, {a0}, 257;", "u16"),
    }
    for name, (text, kind) in texts.items():
        yield Case(name, text, (kind,), (kind,))


def cases():
    for family in (setp, set_, select, move, immediates):
        yield from family()

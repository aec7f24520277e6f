"""Cases of the warp-wide instructions and of matrix instructions, under full convergence."""

from ptx_twin.case import Case

ALL = "0xffffffff"
KINDS = {
    "add": "u32 s32",
    "min": "u32 s32",
    "max": "u32 s32",
    "and": "b32",
    "or": "b32",
    "xor": "b32",
}


def shuffles():
    for mode in ("up", "down", "bfly", "idx"):
        for clamp in (0x1F, 0x181F, 0x1C1F, 0x0F, 0x0, 0x1807):
            name = f"shfl.sync.{mode}.b32"
            text = f"{name} {{r0}}|{{r1}}, {{a0}}, {{a1}}, {clamp}, {ALL};"
            yield Case(f"{name} {clamp:#x}", text, ("b32", "pred"), ("b32", "b32:lane"))


def votes():
    for mode, result in (("all", "pred"), ("any", "pred"), ("uni", "pred"), ("ballot", "b32")):
        name = f"vote.sync.{mode}.{result}"
        yield Case(name, f"{name} {{r0}}, {{a0}}, {ALL};", (result,), ("pred",))
        yield Case(f"{name} not", f"{name} {{r0}}, !{{a0}}, {ALL};", (result,), ("pred:mostly",))
    yield Case("activemask.b32", "activemask.b32 {r0};", ("b32",), ("b32",))


def matches():
    for kind in ("b32", "b64"):
        name = f"match.any.sync.{kind}"
        yield Case(name, f"{name} {{r0}}, {{a0}}, {ALL};", ("b32",), (f"{kind}:few",))
        name = f"match.all.sync.{kind}"
        for flavour in ("few", "constant"):
            text = f"{name} {{r0}}|{{r1}}, {{a0}}, {ALL};"
            yield Case(f"{name} {flavour}", text, ("b32", "pred"), (f"{kind}:{flavour}",))


def reductions():
    for name, kinds in KINDS.items():
        for kind in kinds.split():
            full = f"redux.sync.{name}.{kind}"
            yield Case(full, f"{full} {{r0}}, {{a0}}, {ALL};", (kind,), (kind,), sm=80)
    text = f"elect.sync {{r0}}|{{r1}}, {ALL};"
    yield Case("elect.sync", text, ("b32", "pred"), ("b32",), sm=90)


def subsets():
    """Half of the warp takes part; the predicate is the same for all its members."""
    half = "0x55555555"
    guard = (
        "mov.b32 {r0}, 0; mov.u32 %odd, %laneid; and.b32 %odd, %odd, 1; setp.eq.u32 %even, %odd, 0;"
    )
    for name, operands, kind in (
        ("shfl.sync.bfly.b32", "{r0}, {a0}, 2, 31", "b32"),
        ("vote.sync.ballot.b32", "{r0}, {a1}", "b32"),
        ("match.any.sync.b32", "{r0}, {a0}", "b32"),
        ("redux.sync.add.s32", "{r0}, {a0}", "s32"),
    ):
        text = f"{guard} @%even {name} {operands}, {half};"
        sm = 80 if "redux" in name else 70
        yield Case(f"{name} half", text, ("b32",), (f"{kind}:few", "pred"), sm=sm)


def vector(letter, first, count):
    return "{{" + ", ".join(f"{{{letter}{i}}}" for i in range(first, first + count)) + "}}"


def product(name, kinds, counts, flavour, sm, check=""):
    """``counts`` registers of D, A, B, C, whose kinds are register types.

    Little whole numbers (``small``) give exact results; those of ``unit`` numbers are rounded.
    """
    d, a, b, c = counts
    text = (
        f"{name} {vector('r', 0, d)}, {vector('a', 0, a)}, {vector('a', a, b)},"
        f" {vector('a', a + b, c)};"
    )
    flavours = f":{flavour}" if flavour else ""
    operands = [kinds[1] + flavours] * a + [kinds[2] + flavours] * b + [kinds[3] + flavours] * c
    check = check or ("sum" if flavour == "unit" else "bits")
    label = f"{name} rounded" if check == "sum" else name
    return Case(label, text, (kinds[0],) * d, tuple(operands), check, sm, 64)


def accumulators(kind, elements):
    return (elements // 2, "f16x2") if kind == "f16" else (elements, kind)


def half_products():
    for d, c in (("f16", "f16"), ("f32", "f16"), ("f32", "f32")):
        yield from quad_products(d, c)
    for shape, a, b, sm in (("m16n8k8", 2, 1, 75), ("m16n8k16", 4, 2, 80)):
        for d in ("f16", "f32"):
            count, kind = accumulators(d, 4)
            name = f"mma.sync.aligned.{shape}.row.col.{d}.f16.f16.{d}"
            yield product(name, (kind, "f16x2", "f16x2", kind), (count, a, b, count), "small", sm)
        name = f"mma.sync.aligned.{shape}.row.col.f32.bf16.bf16.f32"
        yield product(name, ("f32", "bf16x2", "bf16x2", "f32"), (4, a, b, 4), "small", 80)


def quad_products(d, c):
    """m8n8k4 in all layouts."""
    (d_count, d_kind), (c_count, c_kind) = accumulators(d, 8), accumulators(c, 8)
    for row in ("row", "col"):
        for column in ("row", "col"):
            name = f"mma.sync.aligned.m8n8k4.{row}.{column}.{d}.f16.f16.{c}"
            kinds = (d_kind, "f16x2", "f16x2", c_kind)
            yield product(name, kinds, (d_count, 2, 2, c_count), "small", 70)


def other_products():
    for shape, a, b in (("m16n8k4", 2, 1), ("m16n8k8", 4, 2)):
        name = f"mma.sync.aligned.{shape}.row.col.f32.tf32.tf32.f32"
        yield product(name, ("f32", "tf32", "tf32", "f32"), (4, a, b, 4), "small", 80)
    shapes = (("m8n8k4", 1, 1, 2, 80), ("m16n8k4", 2, 1, 4, 90), ("m16n8k8", 4, 2, 4, 90))
    for shape, a, b, c, sm in (*shapes, ("m16n8k16", 8, 4, 4, 90)):
        name = f"mma.sync.aligned.{shape}.row.col.f64.f64.f64.f64"
        yield product(name, ("f64",) * 4, (c, a, b, c), "small", sm)
        for mode in ("rn", "rz", "rm", "rp"):
            name = f"mma.sync.aligned.{shape}.row.col.{mode}.f64.f64.f64.f64"
            yield product(name, ("f64",) * 4, (c, a, b, c), "unit", sm, "bits")
    for kind in ("e4m3", "e5m2"):
        name = f"mma.sync.aligned.m16n8k32.row.col.f32.{kind}.{kind}.f32"
        kinds = ("f32", f"{kind}x4", f"{kind}x4", "f32")
        yield product(name, kinds, (4, 4, 2, 4), "small", 89)


def rounded_products():
    """Results that no format holds exactly."""
    for shape, a, b, kind, result in (
        ("m16n8k16", 4, 2, "f16", "f32"),
        ("m16n8k16", 4, 2, "f16", "f16"),
        ("m16n8k8", 2, 1, "bf16", "f32"),
        ("m16n8k8", 4, 2, "tf32", "f32"),
        ("m8n8k4", 1, 1, "f64", "f64"),
    ):
        count, held = accumulators(result, 2 if kind == "f64" else 4)
        source = kind if kind in ("tf32", "f64") else f"{kind}x2"
        name = f"mma.sync.aligned.{shape}.row.col.{result}.{kind}.{kind}.{result}"
        yield product(name, (held, source, source, held), (count, a, b, count), "unit", 80)


def integer_products():
    shapes = (("m8n8k16", 1, 1, 2, 8), ("m16n8k16", 2, 1, 4, 8), ("m16n8k32", 4, 2, 4, 8))
    fours = (("m8n8k32", 1, 1, 2, 4), ("m16n8k32", 2, 1, 4, 4), ("m16n8k64", 4, 2, 4, 4))
    for shape, a, b, c, bits in (*shapes, *fours):
        for one in ("s", "u"):
            for other in ("s", "u"):
                for saturate in ("", ".satfinite"):
                    kinds = f"s32.{one}{bits}.{other}{bits}.s32"
                    name = f"mma.sync.aligned.{shape}.row.col{saturate}.{kinds}"
                    types = ("s32", "b32", "b32", "s32")
                    yield product(name, types, (c, a, b, c), "", 80)
    ones = (("m8n8k128", 1, 1, 2), ("m16n8k128", 2, 1, 4), ("m16n8k256", 4, 2, 4))
    for shape, a, b, c in ones:
        for word in ("xor", "and"):
            name = f"mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{word}.popc"
            yield product(name, ("s32", "b32", "b32", "s32"), (c, a, b, c), "", 80)


SPARSE = (  # shape, types of D and A, registers of D, A and B, highest selector
    ("m16n8k16", "f16", "f16", 2, 2, 2, 3),
    ("m16n8k16", "f32", "f16", 4, 2, 2, 3),
    ("m16n8k16", "f32", "bf16", 4, 2, 2, 3),
    ("m16n8k32", "f16", "f16", 2, 4, 4, 1),
    ("m16n8k32", "f32", "f16", 4, 4, 4, 1),
    ("m16n8k32", "f32", "bf16", 4, 4, 4, 1),
    ("m16n8k8", "f32", "tf32", 4, 2, 2, 3),
    ("m16n8k16", "f32", "tf32", 4, 4, 4, 1),
    ("m16n8k64", "f32", "e4m3", 4, 4, 4, 0),
    ("m16n8k64", "f32", "e5m2", 4, 4, 4, 0),
    ("m16n8k32", "s32", "s8", 4, 2, 2, 1),
    ("m16n8k64", "s32", "u8", 4, 4, 4, 0),
    ("m16n8k64", "s32", "u4", 4, 2, 2, 1),
    ("m16n8k128", "s32", "s4", 4, 4, 4, 0),
)


def sparse_products():
    for shape, result, kind, d, a, b, most in SPARSE:
        held = {"f16": "f16x2"}.get(result, result)
        stored = {"f16": "f16x2", "bf16": "bf16x2", "tf32": "tf32"}.get(kind, "b32")
        stored = f"{kind}x4" if kind[0] == "e" else stored
        flavour = ":small" if result != "s32" else ""
        for selector, word in ((0, "sp"), (most, "sp::ordered_metadata")):
            name = f"mma.{word}.sync.aligned.{shape}.row.col.{result}.{kind}.{kind}.{result}"
            text = f"{name} {vector('r', 0, d)}, {vector('a', 1, a)}, {vector('a', 1 + a, b)},"
            text += f" {vector('a', 1 + a + b, d)}, {{a0}}, {selector:#x};"
            metadata = "b32:halves" if kind == "tf32" else "b32:places"
            operands = [stored + flavour] * (a + b) + [held + flavour] * d
            yield Case(
                name, text, (held,) * d, (metadata, *operands), sm=90 if kind[0] == "e" else 80
            )
    name = "mma.sp.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32"
    text = f"{name} {vector('r', 0, 4)}, {vector('a', 1, 2)}, {vector('a', 3, 2)},"
    text += f" {vector('a', 5, 4)}, {{a0}}, 0;"
    yield Case(name, text, ("s32",) * 4, ("b32:places", *["b32"] * 4, *["s32"] * 4), sm=80)


def matrix_moves():
    stores = " ".join(f"st.shared.b32 [{{shared}}+{4 * i}], {{a{i}}};" for i in range(4))
    for count in (1, 2, 4):
        for trans in ("", ".trans"):
            name = f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16"
            text = f"{stores} bar.sync 0; {name} {vector('r', 0, count)}, [{{shared}}];"
            yield Case(name, text, ("b32",) * count, ("b32",) * 4, sm=75)
            name = f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16"
            loads = " ".join(f"ld.shared.b32 {{r{i}}}, [{{shared}}+{4 * i}];" for i in range(4))
            text = f"{stores} bar.sync 0; {name} [{{shared}}], {vector('a', 4, count)}; bar.sync 0;"
            yield Case(name, f"{text} {loads}", ("b32",) * 4, ("b32",) * (4 + count), sm=90)
    name = "movmatrix.sync.aligned.m8n8.trans.b16"
    yield Case(name, f"{name} {{r0}}, {{a0}};", ("b32",), ("b32",), sm=75)


def cases():
    families = (
        shuffles,
        votes,
        matches,
        reductions,
        subsets,
        half_products,
        other_products,
        rounded_products,
        integer_products,
        sparse_products,
        matrix_moves,
    )
    for family in families:
        yield from family()

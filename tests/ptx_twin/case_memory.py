"""Cases of loads, stores, address conversion, atomics and asynchronous copies."""

from ptx_twin.case import Case, register_type

KINDS = [
    "u8",
    "s8",
    "b8",
    "u16",
    "s16",
    "b16",
    "u32",
    "s32",
    "b32",
    "u64",
    "s64",
    "b64",
    "f32",
    "f64",
]
SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}
SPACES = ("global", "shared", "local")
CHOICES = {
    "add": "u32 s32 u64 f32 f64 f16x2 bf16x2 f16 bf16",
    "min": "u32 s32 u64 s64",
    "max": "u32 s32 u64 s64",
    "inc": "u32",
    "dec": "u32",
    "and": "b32 b64",
    "or": "b32 b64",
    "xor": "b32 b64",
    "exch": "b32 b64",
}
NEEDS = {"f16": 70, "bf16": 90, "bf16x2": 90}


def generic(space):
    """Make the register %generic point at the thread's bytes."""
    return f"cvta.{space}.u64 %generic, {{{space}}};"


def loads_and_stores():
    for space in SPACES:
        for kind in KINDS:
            place = f"[{{{space}}}+16]"
            text = f"st.{space}.{kind} {place}, {{a0}}; ld.{space}.{kind} {{r0}}, {place};"
            yield Case(f"ld.{space}.{kind}", text, (kind,), (kind,))
            access = f"st.{kind} [%generic+16], {{a0}}; ld.{kind} {{r0}}, [%generic+16];"
            text = f"{generic(space)} {access}"
            yield Case(f"ld.{kind} of {space}", text, (kind,), (kind,))


def vectors():
    for space in SPACES:
        for kind in KINDS:
            bits = int("".join(c for c in kind if c.isdigit()))
            for count in (2, 4):
                if bits * count <= 128:
                    yield vector(space, kind, count)


def long_vectors():
    """Eight bytes; PTX has eight words on sm_100 only."""
    for kind in ("u8", "s8", "b8"):
        yield vector("global", kind, 8)


def vector(space, kind, count):
    sources = ", ".join(f"{{a{i}}}" for i in range(count))
    targets = ", ".join(f"{{r{i}}}" for i in reversed(range(count)))
    name = f"{space}.v{count}.{kind}"
    text = (
        f"st.{name} [{{{space}}}+32], {{{{{sources}}}}};"
        f" ld.{name} {{{{{targets}}}}}, [{{{space}}}+32];"
    )
    return Case(f"ld.{name}", text, (kind,) * count, (kind,) * count)


def widening():
    """A load into a wider register extends as the type's sign says."""
    for kind in ("u8", "s8", "u16", "s16", "u32", "s32"):
        for wide in ("b32", "b64"):
            if int(kind[1:]) < int(wide[1:]):
                text = f"st.global.b64 [{{global}}], {{a0}}; ld.global.{kind} {{r0}}, [{{global}}];"
                yield Case(f"ld.global.{kind} into {wide}", text, (wide,), ("b64",))


def modified():
    """Cache hints and orders change no value."""
    hints = "ca cg cs lu cv nc L1::evict_first L2::128B"
    orders = "volatile relaxed.gpu acquire.sys"
    for word in f"{hints} {orders}".split():
        front = word in orders.split()
        name = f"ld.{word}.global.u32" if front else f"ld.global.{word}.u32"
        text = f"st.global.u32 [{{global}}], {{a0}}; {name} {{r0}}, [{{global}}];"
        yield Case(name, text, ("u32",), ("u32",), sm=75)
    for word in ["wb", "cg", "cs", "wt", "volatile", "relaxed.gpu", "release.sys"]:
        front = word == "volatile" or "." in word
        name = f"st.{word}.global.u32" if front else f"st.global.{word}.u32"
        text = f"{name} [{{global}}], {{a0}}; ld.global.u32 {{r0}}, [{{global}}];"
        yield Case(name, text, ("u32",), ("u32",))
    text = "st.global.u32 [{global}], {a0}; ldu.global.u32 {r0}, [{global}];"
    yield Case("ldu.global.u32", text, ("u32",), ("u32",))


def hints():
    texts = {
        "prefetch.global.L1": "prefetch.global.L1 [{global}];",
        "prefetch.global.L2": "prefetch.global.L2 [{global}];",
        "prefetchu.L1": "cvta.global.u64 %generic, {global}; prefetchu.L1 [%generic];",
        "membar.cta": "membar.cta;",
        "membar.gl": "membar.gl;",
        "membar.sys": "membar.sys;",
        "fence.sc.gpu": "fence.sc.gpu;",
        "fence.acq_rel.cta": "fence.acq_rel.cta;",
        "nanosleep.u32": "nanosleep.u32 20;",
    }
    for name, text in texts.items():
        yield Case(name, f"{text} mov.b32 {{r0}}, {{a0}};", ("b32",), ("b32",))


def spaces():
    for space in SPACES:
        for asked in (*SPACES, "const"):
            text = f"{generic(space)} isspacep.{asked} {{r0}}, %generic;"
            yield Case(f"isspacep.{asked} of {space}", text, ("pred",), ("b32",), rows=32)
        text = (
            f"{generic(space)} cvta.to.{space}.u64 %generic, %generic;"
            f" st.{space}.b32 [{{{space}}}+4], {{a0}}; ld.{space}.b32 {{r0}}, [%generic+4];"
        )
        yield Case(f"cvta.to.{space}.u64", text, ("b32",), ("b32",))


def atomics():
    for name, kinds in CHOICES.items():
        for kind in kinds.split():
            for space in ("global", "shared", "generic"):
                yield atomic(name, kind, space)
    for kind in ("b32", "b64", "b16"):
        for space in ("global", "shared", "generic"):
            yield atomic("cas", kind, space, "{a1}, {a2}")
            yield same_cas(kind, space)


def atomic(name, kind, space, values="{a1}"):
    home, place = ("global", "[%generic]") if space == "generic" else (space, f"[{{{space}}}]")
    words = f"{'' if space == 'generic' else space + '.'}{name}"
    words += ".noftz" if "f16" in kind else ""
    stored = register_type(kind)
    text = (
        f"{generic(home)} st.{home}.{stored} [{{{home}}}], {{a0}};"
        f" atom.{words}.{kind} {{r0}}, {place}, {values};"
    )
    if name not in ("exch", "cas"):
        text += f" red.{words}.{kind} {place}, {values};"
    text += f" ld.{home}.{stored} {{r1}}, [{{{home}}}];"
    operands = (kind,) * (3 if name == "cas" else 2)
    return Case(f"atom.{words}.{kind}", text, (kind, kind), operands, sm=NEEDS.get(kind, 70))


def same_cas(kind, space):
    """The comparison succeeds."""
    case = atomic("cas", kind, space, "{a0}, {a1}")
    return Case(f"{case.name} success", case.text, case.results, case.operands[:2])


def vector_atomics():
    for kind, count in (("f32", 2), ("f32", 4), ("f16", 2), ("f16x2", 2), ("bf16", 4)):
        old = ", ".join(f"{{r{i}}}" for i in range(count))
        new = ", ".join(f"{{a{count + i}}}" for i in range(count))
        stored = register_type(kind)
        size = int("".join(c for c in stored if c.isdigit())) // 8
        stores = " ".join(
            f"st.global.{stored} [{{global}}+{i * size}], {{a{i}}};" for i in range(count)
        )
        words = f"global.add{'.noftz' if 'f16' in kind else ''}.v{count}.{kind}"
        text = f"{stores} atom.{words} {{{{{old}}}}}, [{{global}}], {{{{{new}}}}};"
        yield Case(f"atom.{words}", text, (kind,) * count, (kind,) * (2 * count), sm=90)


ASYNC = "shared::cluster.mbarrier::complete_tx::bytes"
ASYNC_CHOICES = {
    **{"add": "u32 s32 u64 s64", "min": "u32 s32", "max": "u32 s32", "inc": "u32", "dec": "u32"},
    **dict.fromkeys(("and", "or", "xor"), "b32"),
}


def async_stores():
    """Before the barrier says so, only the storing thread may look, and not on a GPU."""
    barrier = "mbarrier.init.shared.b64 [{shared}+32], 1;"
    for name, kinds in ASYNC_CHOICES.items():
        for kind in kinds.split():
            full = f"red.async.relaxed.cluster.{ASYNC}.{name}.{kind}"
            text = f"{barrier} st.shared.{kind} [{{shared}}], {{a0}};"
            text += f" {full} [{{shared}}], {{a1}}, [{{shared}}+32];"
            text += f" ld.shared.{kind} {{r0}}, [{{shared}}];"
            yield Case(full, text, (kind,), (kind, kind), sm=90)
    for count, kinds in ((1, "b32 f32 s64 f64"), (2, "u32 b64"), (4, "s32 f32")):
        for kind in kinds.split():
            vector = f".v{count}" if count > 1 else ""
            full = f"st.async.weak.{ASYNC}{vector}.{kind}"
            parts = [", ".join(f"{{{x}{i}}}" for i in range(count)) for x in "ra"]
            target, source = (f"{{{{{part}}}}}" if count > 1 else part for part in parts)
            text = f"{barrier} {full} [{{shared}}], {source}, [{{shared}}+32];"
            text += f" ld.shared{vector}.{kind} {target}, [{{shared}}];"
            yield Case(full, text, (kind,) * count, (kind,) * count, sm=90)


def async_copies():
    for size, cache in ((4, "ca"), (8, "ca"), (16, "ca"), (16, "cg")):
        name = f"cp.async.{cache}.shared.global"
        text = (
            "st.global.b64 [{global}], {a0}; st.global.b64 [{global}+8], {a1};"
            + " st.shared.b64 [{shared}], {a2}; st.shared.b64 [{shared}+8], {a2};"
            + f" {name} [{{shared}}], [{{global}}], {size};"
            + " cp.async.commit_group; cp.async.wait_group 0;"
            + " ld.shared.b64 {r0}, [{shared}]; ld.shared.b64 {r1}, [{shared}+8];"
        )
        yield Case(f"{name} {size}", text, ("b64", "b64"), ("b64",) * 3, sm=80)
        text = text.replace(f"], {size};", f"], {size}, 3;").replace("wait_group 0", "wait_all")
        yield Case(f"{name} {size} partial", text, ("b64", "b64"), ("b64",) * 3, sm=80)


def cases():
    families = (
        loads_and_stores,
        vectors,
        long_vectors,
        widening,
        modified,
        hints,
        spaces,
        atomics,
        vector_atomics,
        async_stores,
        async_copies,
    )
    for family in families:
        yield from family()

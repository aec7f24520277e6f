"""Random PTX programs whose results do not depend on the order in which threads run.

Control flow diverges freely: nested branches, loops whose trip count is data, jumps into loops,
switches, calls, predicated instructions. Warp-wide instructions and barriers stand where all
threads come; memory that threads share is written by atomics without results, or between barriers.
"""

import re
from dataclasses import dataclass, field

from hypothesis import strategies as st

WORDS, FLOATS, LONGS, PREDICATES = 6, 4, 3, 4
THREADS = 64
SHARED_WORDS = THREADS
LOCAL_WORDS = 8

HEADER = """.version 8.6
.target sm_80
.address_size 64

.func (.param .b32 mix_out) mix(.param .b32 mix_a, .param .b32 mix_b)
{
    .reg .b32 %a, %b;
    .reg .pred %p;
    ld.param.b32 %a, [mix_a];
    ld.param.b32 %b, [mix_b];
    setp.lt.u32 %p, %a, %b;
    @%p bra SMALL;
    xor.b32 %a, %a, %b;
    st.param.b32 [mix_out], %a;
    ret;
SMALL:
    mul.lo.u32 %a, %a, 2654435761;
    add.u32 %a, %a, %b;
    st.param.b32 [mix_out], %a;
    ret;
}

.visible .entry k(.param .u64 k_in, .param .u64 k_out, .param .u64 k_work)
{
    .reg .b32 %r<6>, %i, %t, %n, %lane;
    .reg .f32 %f<4>;
    .reg .b64 %d<3>, %in, %out, %work, %at;
    .reg .pred %p<4>, %q;
    .shared .align 16 .b8 area[256];
    .local .align 16 .b8 stack[32];
    .param .b32 first, second, answer;
    mov.u32 %i, %tid.x;
    mov.u32 %lane, %laneid;
    ld.param.u64 %in, [k_in];
    ld.param.u64 %out, [k_out];
    ld.param.u64 %work, [k_work];
    mov.u32 %t, %ctaid.x;
    mad.lo.u32 %t, %t, 64, %i;
    mad.wide.u32 %in, %t, 104, %in;
    mad.wide.u32 %out, %t, 104, %out;
"""
ROW = 104  # bytes of a thread's registers in memory: 6 words, 4 floats, 3 longs, 4 predicates, fill

# Templates of plain instructions: w, f, l, p are registers of each kind, written ones in capitals.
PLAIN = (
    "add.u32 W, w, w",
    "sub.s32 W, w, w",
    "mul.lo.u32 W, w, w",
    "mul.hi.s32 W, w, w",
    "mad.lo.s32 W, w, w, w",
    "min.s32 W, w, w",
    "max.u32 W, w, w",
    "abs.s32 W, w",
    "popc.b32 W, w",
    "clz.b32 W, w",
    "brev.b32 W, w",
    "bfe.u32 W, w, w, w",
    "bfi.b32 W, w, w, 5, 9",
    "prmt.b32 W, w, w, w",
    "and.b32 W, w, w",
    "or.b32 W, w, w",
    "xor.b32 W, w, w",
    "not.b32 W, w",
    "shl.b32 W, w, w",
    "shr.s32 W, w, 3",
    "shr.u32 W, w, w",
    "shf.l.wrap.b32 W, w, w, w",
    "lop3.b32 W, w, w, w, 0x96",
    "dp4a.s32.s32 W, w, w, w",
    "selp.b32 W, w, w, p",
    "mov.b32 W, 0x9e3779b9",
    "cvt.u32.u64 W, l",
    "cvt.s32.s8 W, w",
    "cvt.rzi.s32.f32 W, f",
    "add.u64 L, l, l",
    "sub.s64 L, l, l",
    "mul.wide.u32 L, w, w",
    "mul.lo.u64 L, l, l",
    "xor.b64 L, l, l",
    "shr.u64 L, l, w",
    "cvt.s64.s32 L, w",
    "mov.b64 L, {w, w}",
    "add.rn.f32 F, f, f",
    "sub.rn.f32 F, f, f",
    "mul.rn.f32 F, f, f",
    "fma.rn.f32 F, f, f, f",
    "div.rn.f32 F, f, f",
    "min.f32 F, f, f",
    "max.ftz.f32 F, f, f",
    "selp.f32 F, f, f, p",
    "cvt.rn.f32.s32 F, w",
    "cvt.rn.f32.u64 F, l",
    "setp.lt.s32 P, w, w",
    "setp.hs.u32 P, w, w",
    "setp.eq.and.b32 P, w, w, p",
    "setp.gt.f32 P, f, f",
    "setp.neu.f32 P, f, f",
    "setp.ge.s64 P, l, l",
    "and.pred P, p, p",
    "xor.pred P, p, p",
    "not.pred P, p",
)
NAMES = re.compile(r"\b[wflp]\b", re.IGNORECASE)
COUNTS = {"w": (WORDS, "%r"), "f": (FLOATS, "%f"), "l": (LONGS, "%d"), "p": (PREDICATES, "%p")}


@dataclass
class Writer:
    """The text so far, and how many labels it has."""

    lines: list = field(default_factory=list)
    labels: int = 0

    def add(self, *lines):
        self.lines += [f"    {line}" for line in lines]

    def place(self, label):
        self.lines.append(f"{label}:")

    def label(self):
        self.labels += 1
        return f"L{self.labels}"


def register(draw, kind):
    count, prefix = COUNTS[kind]
    return f"{prefix}{draw(st.integers(0, count - 1))}"


def guard(draw):
    """Often none; else a predicate, perhaps inverted."""
    choice = draw(st.integers(0, 5))
    return "" if choice < 4 else f"@{'!' if choice == 5 else ''}{register(draw, 'p')} "


def plain(draw, writer, depth, templates):
    """One instruction; the opcode ends at the first space."""
    opcode, _, operands = draw(st.sampled_from(templates)).partition(" ")
    filled = NAMES.sub(lambda match: register(draw, match[0].lower()), operands)
    writer.add(f"{guard(draw)}{opcode} {filled};")


def branch(draw, writer, depth, templates):
    """if and else, either of which may be empty."""
    other, end = writer.label(), writer.label()
    writer.add(f"@{register(draw, 'p')} bra {other};")
    block(draw, writer, depth - 1, templates)
    writer.add(f"bra {end};")
    writer.place(other)
    block(draw, writer, depth - 1, templates)
    writer.place(end)


def loop(draw, writer, depth, templates):
    """One to eight times, as a register says; the counter is a register of its own."""
    top, counter, test = writer.label(), f"%c{writer.labels}", f"%e{writer.labels}"
    writer.add(f".reg .b32 {counter};", f"and.b32 {counter}, {register(draw, 'w')}, 7;")
    writer.place(top)
    block(draw, writer, depth - 1, templates)
    writer.add(
        f".reg .pred {test};",
        f"sub.s32 {counter}, {counter}, 1;",
        f"setp.ge.s32 {test}, {counter}, 0;",
        f"@{test} bra {top};",
    )


def jumps(draw, writer, depth, templates):
    """Three blocks with jumps among them and an entry in the middle; fuel ends it."""
    labels = [writer.label() for _ in range(3)]
    end, fuel, test = writer.label(), f"%g{writer.labels}", f"%h{writer.labels}"
    writer.add(f".reg .b32 {fuel};", f".reg .pred {test};", f"mov.b32 {fuel}, 6;")
    writer.add(f"@{register(draw, 'p')} bra {labels[draw(st.integers(1, 2))]};")
    for label in labels:
        writer.place(label)
        block(draw, writer, 0, templates)
        writer.add(
            f"sub.s32 {fuel}, {fuel}, 1;",
            f"setp.lt.s32 {test}, {fuel}, 0;",
            f"@{test} bra {end};",
            f"{guard(draw)}bra {draw(st.sampled_from(labels))};",
        )
    writer.place(end)


def switch(draw, writer, depth, templates):
    """brx.idx over three blocks that fall through."""
    labels = [writer.label() for _ in range(3)]
    end = writer.label()
    table = f"T{writer.labels}"
    writer.add(
        f"{table}: .branchtargets {', '.join([*labels, end])};",
        f"and.b32 %n, {register(draw, 'w')}, 3;",
        f"brx.idx %n, {table};",
    )
    for label in labels:
        writer.place(label)
        block(draw, writer, depth - 1, templates)
    writer.place(end)


def local(draw, writer, depth, templates):
    """A store to the stack and a load from it, at places that are data."""
    writer.add("mov.u64 %at, stack;", f"and.b32 %n, {register(draw, 'w')}, 28;")
    writer.add("cvt.u64.u32 %d0, %n;", "add.u64 %at, %at, %d0;")
    if draw(st.booleans()):
        writer.add(f"st.local.b32 [%at], {register(draw, 'w')};")
    else:
        writer.add(f"ld.local.b32 {register(draw, 'w')}, [%at];")


def call(draw, writer, depth, templates):
    a, b, c = (register(draw, "w") for _ in range(3))
    writer.add(
        f"st.param.b32 [first], {a};",
        f"st.param.b32 [second], {b};",
        "call (answer), mix, (first, second);",
        f"ld.param.b32 {c}, [answer];",
    )


def accumulate(draw, writer, depth, templates):
    """An atomic addition whose result nobody sees."""
    writer.add(f"and.b32 %n, {register(draw, 'w')}, 60;", "cvt.u64.u32 %at, %n;")
    writer.add("add.u64 %at, %at, %work;")
    writer.add(f"{guard(draw)}red.global.add.u32 [%at], {register(draw, 'w')};")


def exchange(draw, writer, depth, templates):
    """Through shared memory: every thread reads what another one wrote."""
    step = draw(st.integers(1, THREADS - 1))
    writer.add(
        "mov.u64 %at, area;",
        "mad.wide.u32 %at, %i, 4, %at;",
        f"st.shared.b32 [%at], {register(draw, 'w')};",
        "bar.sync 0;",
        f"add.u32 %n, %i, {step};",
        f"and.b32 %n, %n, {THREADS - 1};",
        "mov.u64 %at, area;",
        "mad.wide.u32 %at, %n, 4, %at;",
        f"ld.shared.b32 {register(draw, 'w')}, [%at];",
        "bar.sync 0;",
    )


def collective(draw, writer, depth, templates):
    a, b = register(draw, "w"), register(draw, "w")
    p = register(draw, "p")
    mode = draw(st.sampled_from(("up", "down", "bfly", "idx")))
    choices = (
        f"shfl.sync.{mode}.b32 {a}|{p}, {b}, {draw(st.integers(0, 31))}, 31, -1;",
        f"vote.sync.ballot.b32 {a}, {p}, -1;",
        f"vote.sync.any.pred {p}, {p}, -1;",
        f"match.any.sync.b32 {a}, {b}, -1;",
        f"redux.sync.add.s32 {a}, {b}, -1;",
    )
    writer.add(draw(st.sampled_from(choices)))


INNER = (plain, plain, plain, plain, branch, loop, jumps, switch, local, call, accumulate)
OUTER = (*INNER, exchange, collective)


def block(draw, writer, depth, templates, statements=INNER):
    """A few statements; deep in a nest only plain ones."""
    for _ in range(draw(st.integers(0, 3))):
        choice = draw(st.sampled_from(statements)) if depth > 0 else plain
        choice(draw, writer, depth, templates)


def registers_in_memory():
    """``(load, store)`` lines of all registers at the thread's row."""
    kinds = [("%r", WORDS, "b32", 4), ("%f", FLOATS, "f32", 4), ("%d", LONGS, "b64", 8)]
    offset, loads, stores = 0, [], []
    for prefix, count, kind, size in kinds:
        for i in range(count):
            loads.append(f"ld.global.{kind} {prefix}{i}, [%in+{offset}];")
            stores.append(f"st.global.{kind} [%out+{offset}], {prefix}{i};")
            offset += size
    for i in range(PREDICATES):
        loads += [f"ld.global.b32 %t, [%in+{offset}];", f"setp.ne.b32 %p{i}, %t, 0;"]
        stores += [f"selp.b32 %t, 1, 0, %p{i};", f"st.global.b32 [%out+{offset}], %t;"]
        offset += 4
    return loads, stores


@st.composite
def programs(draw, templates=PLAIN, statements=OUTER):
    """The text of a module with the kernel ``k(in, out, work)`` for CTAs of 64 threads."""
    writer = Writer([HEADER])
    loads, stores = registers_in_memory()
    writer.add(*loads)
    for i in range(LOCAL_WORDS):
        writer.add(f"st.local.b32 [stack+{4 * i}], %i;")
    for _ in range(draw(st.integers(2, 6))):
        draw(st.sampled_from(statements))(draw, writer, 3, templates)
    writer.add(*stores, "ret;")
    return "\n".join([*writer.lines, "}", ""])

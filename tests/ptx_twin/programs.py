"""Small PTX programs with known results: synchronisation, calls, control flow, variables.

Every kernel is ``k(out)``, where ``out`` is an array of zeroed 32-bit words.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """A kernel, its launch, and the words that it must leave in ``out``."""

    name: str
    ptx: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    expected: Callable[[], list[int]]
    shared_bytes: int = 0


HEADER = """.version 8.6
.target sm_90
.address_size 64
"""
BEGIN = """
.visible .entry k(.param .u64 k_out)
{
    .reg .b32 %i, %n, %a, %b, %c, %w, %lane;
    .reg .b64 %out, %at, %d, %s;
    .reg .pred %p, %q;
    ld.param.u64 %out, [k_out];
    mov.u32 %i, %tid.x;
    mov.u32 %lane, %laneid;
    mov.u32 %n, %ctaid.x;
    mov.u32 %w, %ntid.x;
    mad.lo.u32 %n, %n, %w, %i;
    mad.wide.u32 %at, %n, 4, %out;
"""
END = """
    st.global.b32 [%at], %a;
    ret;
}
"""


def kernel(body, before=""):
    """``%n`` is the thread's number in the grid; ``%a`` is stored to its word at the end."""
    return f"{HEADER}{before}{BEGIN}{body}{END}"


SPIN_LOCK = kernel(
    """
    mov.u32 %b, 0;
AGAIN:
    atom.global.cas.b32 %a, [%out+1024], 0, 1;
    setp.ne.u32 %p, %a, 0;
    @%p bra AGAIN;
    ld.volatile.global.u32 %c, [%out+1028];
    add.u32 %c, %c, 1;
    st.volatile.global.u32 [%out+1028], %c;
    membar.gl;
    atom.global.exch.b32 %a, [%out+1024], 0;
    mov.u32 %a, 7;
"""
)
GRID_BARRIER = kernel(
    """
    st.global.b32 [%at], %n;
    membar.gl;
    bar.sync 0;
    setp.ne.u32 %p, %i, 0;
    @%p bra WAITED;
    atom.global.add.u32 %a, [%out+1024], 1;
SPIN:
    ld.acquire.gpu.global.u32 %a, [%out+1024];
    setp.lt.u32 %q, %a, 3;
    @%q bra SPIN;
WAITED:
    bar.sync 0;
    add.u32 %b, %n, 32;
    rem.u32 %b, %b, 96;
    mad.wide.u32 %d, %b, 4, %out;
    ld.volatile.global.u32 %c, [%d];
    mad.lo.u32 %a, %c, 10, %n;
    bar.sync 0;
    setp.ne.u32 %p, %i, 0;
    @%p bra LAST;
    atom.global.add.u32 %b, [%out+1024], 1;
SPIN2:
    ld.acquire.gpu.global.u32 %b, [%out+1024];
    setp.lt.u32 %q, %b, 6;
    @%q bra SPIN2;
LAST:
    bar.sync 0;
"""
)
REDUCING_BARRIERS = kernel(
    """
    setp.lt.u32 %p, %i, 40;
    bar.red.popc.u32 %a, 0, %p;
    bar.red.and.pred %q, 1, %p;
    selp.b32 %b, 1000, 0, %q;
    add.u32 %a, %a, %b;
    bar.red.or.pred %q, 2, 64, !%p;
    selp.b32 %b, 2000, 0, %q;
    add.u32 %a, %a, %b;
"""
)
NAMED_BARRIERS = kernel(
    """
    .shared .b32 item;
    setp.ge.u32 %p, %i, 32;
    @%p bra CONSUME;
    add.u32 %a, %i, 5;
    setp.eq.u32 %q, %i, 31;
    @%q st.shared.u32 [item], %a;
    bar.arrive 3, 64;
    bra DONE;
CONSUME:
    bar.sync 3, 64;
    ld.shared.u32 %a, [item];
DONE:
"""
)
EXITED = kernel(
    """
    setp.lt.u32 %p, %i, 10;
    @%p exit;
    bar.sync 0;
    mov.u32 %a, 3;
"""
)
TRANSACTION = kernel(
    """
    .shared .align 8 .b64 ready;
    .shared .align 4 .b32 items[64];
    setp.ne.u32 %p, %i, 0;
    @%p bra START;
    mbarrier.init.shared.b64 [ready], 64;
START:
    bar.sync 0;
    mov.u64 %d, items;
    mad.wide.u32 %d, %i, 4, %d;
    st.shared.u32 [%d], %i;
    mbarrier.arrive.shared.b64 %s, [ready];
WAIT:
    mbarrier.test_wait.shared.b64 %q, [ready], %s;
    @!%q bra WAIT;
    xor.b32 %b, %i, 33;
    mov.u64 %d, items;
    mad.wide.u32 %d, %b, 4, %d;
    ld.shared.u32 %a, [%d];
    mbarrier.arrive.shared.b64 _, [ready];
WAIT2:
    mbarrier.try_wait.parity.shared.b64 %q, [ready], 1;
    @!%q bra WAIT2;
"""
)
FACTORIAL = kernel(
    """
    .param .b32 argument, answer;
    and.b32 %b, %i, 7;
    st.param.b32 [argument], %b;
    call (answer), factorial, (argument);
    ld.param.b32 %a, [answer];
""",
    """
.func (.param .b32 result) factorial(.param .b32 number)
{
    .reg .b32 %n, %m, %f;
    .reg .pred %p;
    ld.param.b32 %n, [number];
    mov.u32 %f, 1;
    setp.lt.u32 %p, %n, 2;
    @%p bra DONE;
    {
        .param .b32 less, below;
        sub.u32 %m, %n, 1;
        st.param.b32 [less], %m;
        call (below), factorial, (less);
        ld.param.b32 %f, [below];
    }
    mul.lo.u32 %f, %f, %n;
DONE:
    st.param.b32 [result], %f;
    ret;
}
""",
)
INDIRECT_CALL = kernel(
    """
    and.b32 %b, %i, 1;
    setp.eq.u32 %p, %b, 0;
    mov.u64 %d, twice;
    mov.u64 %s, square;
    selp.b64 %d, %d, %s, %p;
    {
        .param .b32 x, y;
        st.param.b32 [x], %i;
shape: .callprototype (.param .b32 _) _ (.param .b32 _);
        call (y), %d, (x), shape;
        ld.param.b32 %a, [y];
    }
""",
    """
.func (.param .b32 result) twice(.param .b32 number)
{
    .reg .b32 %n;
    ld.param.b32 %n, [number];
    add.u32 %n, %n, %n;
    st.param.b32 [result], %n;
    ret;
}
.func (.param .b32 result) square(.param .b32 number)
{
    .reg .b32 %n;
    ld.param.b32 %n, [number];
    mul.lo.u32 %n, %n, %n;
    st.param.b32 [result], %n;
    ret;
}
""",
)
SWITCH = kernel(
    """
    and.b32 %b, %i, 3;
    mov.u32 %a, 0;
ways: .branchtargets ONE, TWO, THREE, FOUR;
    brx.idx %b, ways;
ONE:
    add.u32 %a, %a, 1;
TWO:
    add.u32 %a, %a, 10;
    bra FOUR;
THREE:
    add.u32 %a, %a, 100;
FOUR:
    add.u32 %a, %a, 1000;
"""
)
VARIABLES = kernel(
    """
    and.b32 %b, %i, 3;
    mov.u64 %d, table;
    mad.wide.u32 %d, %b, 4, %d;
    ld.const.s32 %a, [%d];
    ld.global.u64 %s, [pointer];
    ld.global.u32 %c, [%s];
    add.u32 %a, %a, %c;
    ld.global.f32 %f, [half];
    cvt.rni.s32.f32 %c, %f;
    add.u32 %a, %a, %c;
""".replace("\n    and", "\n    .reg .f32 %f;\n    and", 1),
    """
.const .align 4 .s32 table[4] = {10, -20, 30};
.global .align 4 .u32 numbers[3] = {100, 200, 300};
.global .align 8 .u64 pointer = numbers+8;
.global .f32 half = 2.5;
""",
)
DYNAMIC_SHARED = kernel(
    """
    .shared .align 16 .b8 fixed[16];
    mov.u64 %d, open;
    mad.wide.u32 %d, %i, 4, %d;
    st.shared.u32 [%d], %i;
    bar.sync 0;
    xor.b32 %b, %i, 1;
    mov.u64 %d, open;
    mad.wide.u32 %d, %b, 4, %d;
    ld.shared.u32 %a, [%d];
    mov.u32 %c, %dynamic_smem_size;
    add.u32 %a, %a, %c;
""",
    """
.extern .shared .align 16 .b8 open[];
""",
)
CONTENTION = kernel(
    """
    atom.global.add.u32 %b, [%out+1024], %n;
    red.global.max.s32 [%out+1028], %n;
    atom.global.inc.u32 %b, [%out+1032], 9;
    red.global.xor.b32 [%out+1036], %n;
    red.shared.add.u32 [total], 2;
    bar.sync 0;
    ld.shared.u32 %a, [total];
""".replace(
        "\n    atom",
        "\n    .shared .b32 total;\n    st.shared.u32 [total], 0;\n    bar.sync 0;\n    atom",
        1,
    )
)
# A select between a register and bits taken from it and another one, all from before the branch.
SIGNS = kernel(
    """
    .reg .f32 %x, %y, %size, %signed;
    cvt.rn.f32.u32 %x, %i;
    sub.f32 %x, %x, 0f41780000;
    cvt.rn.f32.u32 %y, %n;
    bra NEXT;
NEXT:
    abs.f32 %size, %y;
    setp.gtu.f32 %p, %size, 0f7F800000;
    copysign.f32 %signed, %x, %y;
    selp.f32 %signed, %y, %signed, %p;
    mov.b32 %a, %signed;
"""
)
GEOMETRY = f"""{HEADER}
.visible .entry k(.param .u64 k_out)
{{
    .reg .b32 %v<14>;
    .reg .b64 %out;
    ld.param.u64 %out, [k_out];
    mov.u32 %v0, %tid.x;
    mov.u32 %v1, %tid.y;
    mov.u32 %v2, %tid.z;
    mov.u32 %v3, %ntid.x;
    mov.u32 %v4, %ntid.y;
    mov.u32 %v5, %ctaid.x;
    mov.u32 %v6, %ctaid.y;
    mov.u32 %v7, %ctaid.z;
    mov.u32 %v8, %nctaid.x;
    mov.u32 %v9, %nctaid.y;
    mad.lo.u32 %v10, %v9, %v7, %v6;
    mad.lo.u32 %v10, %v10, %v8, %v5;
    mov.u32 %v11, %ntid.z;
    mad.lo.u32 %v10, %v10, %v11, %v2;
    mad.lo.u32 %v10, %v10, %v4, %v1;
    mad.lo.u32 %v10, %v10, %v3, %v0;
    mov.u32 %v12, %laneid;
    mov.u32 %v13, %warpid;
    mad.lo.u32 %v12, %v13, 100, %v12;
    mad.wide.u32 %out, %v10, 4, %out;
    st.global.b32 [%out], %v12;
    ret;
}}
"""


def geometry():
    return [number // 32 * 100 + number % 32 for number in range(36)] * 12


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def signs():
    """The numbers of the threads as floats, negative in the first half of each CTA."""
    return [struct.unpack("<I", struct.pack("<f", n))[0] | (n % 32 < 16) << 31 for n in range(64)]


def locked():
    return [7] * 64 + [0] * 192 + [0, 64]


def contention():
    numbers = range(128)
    parity = 0
    for number in numbers:
        parity ^= number
    return [128] * 128 + [0] * 128 + [sum(numbers), 127, 128 % 10, parity]


def variables():
    return [(v + 300 + 2) % 2**32 for v in (10, -20, 30, 0)] * 8


PROGRAMS = (
    Program("spin lock", SPIN_LOCK, (1,), (64,), locked),
    Program(
        "grid barrier",
        GRID_BARRIER,
        (3,),
        (32,),
        lambda: [(n + 32) % 96 * 10 + n for n in range(96)] + [0] * 160 + [6],
    ),
    Program("reducing barriers", REDUCING_BARRIERS, (1,), (64,), lambda: [2040] * 64),
    Program(
        "named barriers",
        NAMED_BARRIERS,
        (2,),
        (64,),
        lambda: [*range(5, 37), *[36] * 32] * 2,
    ),
    Program("exited threads", EXITED, (1,), (64,), lambda: [0] * 10 + [3] * 54),
    Program("mbarrier", TRANSACTION, (2,), (64,), lambda: [n ^ 33 for n in range(64)] * 2),
    Program("recursion", FACTORIAL, (1,), (32,), lambda: [factorial(n & 7) for n in range(32)]),
    Program(
        "indirect call",
        INDIRECT_CALL,
        (1,),
        (32,),
        lambda: [n * n if n & 1 else 2 * n for n in range(32)],
    ),
    Program("switch", SWITCH, (1,), (32,), lambda: [1011, 1010, 1100, 1000] * 8),
    Program("signs", SIGNS, (2,), (32,), signs),
    Program("variables", VARIABLES, (1,), (32,), variables),
    Program(
        "dynamic shared",
        DYNAMIC_SHARED,
        (2,),
        (32,),
        lambda: [(n ^ 1) + 128 for n in range(32)] * 2,
        shared_bytes=128,
    ),
    Program("contention", CONTENTION, (2,), (64,), contention),
    Program("geometry", GEOMETRY, (2, 3, 2), (3, 4, 3), geometry),
)

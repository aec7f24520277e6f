"""Calls: parameters of all kinds, recursion, functions through their addresses."""

import numpy as np
import pytest

import lockstep
from ptx_twin.programs import kernel


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


FIB = """
.func (.param .b32 result) fib(.param .b32 n)
{
    .reg .b32 %n, %a, %b, %m;
    .reg .pred %p;
    ld.param.u32 %n, [n];
    setp.lt.u32 %p, %n, 2;
    mov.u32 %a, %n;
    @%p bra DONE;
    sub.u32 %m, %n, 1;
    {
    .param .b32 given;
    .param .b32 got;
    st.param.b32 [given], %m;
    call.uni (got), fib, (given);
    ld.param.b32 %a, [got];
    }
    sub.u32 %m, %n, 2;
    {
    .param .b32 given;
    .param .b32 got;
    st.param.b32 [given], %m;
    call.uni (got), fib, (given);
    ld.param.b32 %b, [got];
    }
    add.u32 %a, %a, %b;
DONE:
    st.param.b32 [result], %a;
    ret;
}
"""


def test_a_recursive_function_goes_as_deep_as_each_lane_needs(run):
    body = """
    .param .b32 given;
    .param .b32 got;
    rem.u32 %b, %i, 11;
    st.param.b32 [given], %b;
    call (got), fib, (given);
    ld.param.b32 %a, [got];
    activemask.b32 %c;
    setp.ne.u32 %p, %c, 0xffffffff;
    selp.u32 %c, 100000, 0, %p;
    add.u32 %a, %a, %c;
"""
    out = run(body, 1, 64, before=FIB)
    assert out[:64].tolist() == [fib(i % 11) for i in range(64)]


EVEN_AND_ODD = """
.func (.reg .pred yes) odd (.reg .u32 n);
.func (.reg .pred yes) even (.reg .u32 n)
{
    .reg .pred %p;
    .reg .u32 %m;
    .local .align 4 .b32 kept[3];
    setp.eq.u32 %p, n, 0;
    setp.eq.u32 yes, n, n;
    @%p ret;
    st.local.u32 [kept+8], n;
    sub.u32 %m, n, 1;
    call (yes), odd, (%m);
    ld.local.u32 %m, [kept+8];
    setp.ne.u32 %p, %m, n;
    @%p trap;
    ret;
}
.func (.reg .pred yes) odd (.reg .u32 n)
{
    .reg .pred %p, %keep;
    .reg .u32 %m;
    .reg .b64 %long;
    setp.ne.u32 yes, n, n;
    setp.ne.u32 %p, n, 0;
    setp.gt.u32 %keep, n, 4;
    cvt.u64.u32 %long, n;
    sub.u32 %m, n, 1;
    @%p call (yes), even, (%m);
    setp.gt.u32 %p, n, 4;
    xor.pred %p, %p, %keep;
    @%p trap;
    cvt.u32.u64 %m, %long;
    setp.ne.u32 %p, %m, n;
    @%p trap;
    ret;
}
"""


def test_functions_that_call_each_other_keep_what_is_theirs(run):
    """Registers of all kinds, a local array, a guarded call, a guarded return."""
    body = "call (%p), even, (%i); selp.u32 %a, 1, 0, %p;"
    out = run(body, 1, 32, before=EVEN_AND_ODD)
    assert out[:32].tolist() == [1 - i % 2 for i in range(32)]


def test_too_deep_a_recursion_is_a_fault(device):
    body = "call (%p), even, (%n);"
    text = kernel(body, EVEN_AND_ODD)
    small = lockstep.Device("QV100", stack_bytes=4096)
    k = small.load_ptx(text)["k"]
    out = small.array(np.zeros(2048, np.uint32))
    with pytest.raises(lockstep.LaunchError, match="stack overflow") as caught:
        k[40, 32](out)
    assert caught.value.kind == "stack_overflow"
    assert caught.value.place.instruction == "call"
    k[1, 32](out)


POINTERS = """
.func (.param .b32 r) twice (.param .b32 x)
{
    .reg .b32 %x;
    ld.param.u32 %x, [x];
    add.u32 %x, %x, %x;
    st.param.b32 [r], %x;
    ret;
}
.func (.param .b32 r) square (.param .b32 x)
{
    .reg .b32 %x;
    .reg .pred %p;
    ld.param.u32 %x, [x];
    setp.lt.u32 %p, %x, 20;
    mul.lo.u32 %x, %x, %x;
    st.param.b32 [r], %x;
    @%p ret;
    mov.u32 %x, 7;
    st.param.b32 [r], %x;
}
.func (.param .b64 r) wide (.param .b64 x)
{
    .reg .b64 %x;
    ld.param.u64 %x, [x];
    st.param.b64 [r], %x;
    ret;
}
.global .align 8 .u64 table[3] = {twice, square, wide};
"""
INDIRECT = """
SHAPE: .callprototype (.param .b32 _) _ (.param .b32 _);
LIST: .calltargets twice, square;
    .param .b32 given;
    .param .b32 got;
    and.b32 %b, %i, 1;
    mov.u64 %d, table;
    cvta.global.u64 %d, %d;
    mad.wide.u32 %d, %b, 8, %d;
    ld.u64 %s, [%d];
    st.param.b32 [given], %i;
    call (got), %s, (given), {targets};
    ld.param.b32 %a, [got];
"""


@pytest.mark.parametrize("targets", ["SHAPE", "LIST"])
def test_calls_through_a_table_of_functions(run, targets):
    out = run(INDIRECT.format(targets=targets), before=POINTERS)
    expected = [(i * i if i < 20 else 7) if i % 2 else 2 * i for i in range(32)]
    assert out[:32].tolist() == expected


@pytest.mark.parametrize(
    "address", ["mov.u64 %s, 0;", "mov.u64 %s, wide;", "mov.u64 %s, twice; add.u64 %s, %s, 4;"]
)
def test_a_call_to_what_is_no_target_is_a_fault(device, address):
    body = INDIRECT.format(targets="SHAPE").replace("ld.u64 %s, [%d];", address)
    out = device.array(np.zeros(64, np.uint32))
    with pytest.raises(lockstep.LaunchError, match="no target") as caught:
        device.load_ptx(kernel(body, POINTERS))["k"][1, 32](out)
    assert caught.value.kind == "bad_target"


def test_addresses_of_functions_can_be_compared(run):
    body = """
    mov.u64 %d, twice;
    mov.u64 %s, square;
    setp.ne.u64 %p, %d, %s;
    setp.ne.and.u64 %p, %d, 0, %p;
    ld.global.u64 %at, [table];
    setp.eq.and.u64 %p, %at, %d, %p;
    selp.u32 %a, 1, 0, %p;
    mad.wide.u32 %at, %n, 4, %out;
"""
    assert (run(body, before=POINTERS)[:32] == 1).all()


STRUCTURES = """
.func (.param .align 8 .b8 r[24]) turn (.param .align 8 .b8 s[24], .param .b32 k)
{
    .reg .b16 %c, %h;
    .reg .b32 %k, %w, %v;
    .reg .b64 %d;
    ld.param.u32 %k, [k];
    ld.param.s8 %c, [s];
    ld.param.u16 %h, [s+2];
    ld.param.v2.u32 {%w, %v}, [s+8];
    ld.param.u64 %d, [s+16];
    add.s16 %c, %c, 1;
    st.param.b16 [r+2], %c;
    st.param.b8 [r+1], %h;
    st.param.b8 [r], 9;
    st.param.b32 [r+4], %k;
    st.param.b64 [r+8], %d;
    st.param.v2.b32 [r+16], {%v, %w};
    ret;
}
"""


def test_structures_are_passed_and_returned_by_value(run):
    body = """
    .param .align 8 .b8 given[24];
    .param .align 8 .b8 got[24];
    .reg .b16 %h;
    cvt.u16.u32 %h, %i;
    neg.s16 %h, %h;
    st.param.b8 [given], %h;
    st.param.b16 [given+2], 0xabcd;
    st.param.v2.b32 [given+8], {%i, 77};
    mov.u64 %d, 0x1122334455667788;
    st.param.b64 [given+16], %d;
    call (got), turn, (given, 5);
    ld.param.b64 %s, [got];
    mad.wide.u32 %at, %n, 24, %out;
    st.global.u64 [%at], %s;
    ld.param.b64 %s, [got+8];
    st.global.u64 [%at+8], %s;
    ld.param.v2.b32 {%a, %b}, [got+16];
    st.global.u32 [%at+16], %a;
    st.global.u32 [%at+20], %b;
    mov.u32 %a, 0;
    add.u64 %at, %out, 4096;
"""
    out = run(body, before=STRUCTURES)[: 32 * 6].reshape(32, 6)
    for lane, row in enumerate(out.tolist()):
        first = 9 | 0xCD << 8 | ((1 - lane) & 0xFFFF) << 16
        assert row == [first, 5, 0x55667788, 0x11223344, 77, lane]


ADDRESSED = """
.func (.param .b32 r) pick (.param .align 4 .b8 a[16], .param .b32 k)
{
    .reg .b32 %k;
    .reg .b64 %d, %e;
    mov.b64 %d, a;
    ld.param.u32 %k, [k];
    mul.wide.u32 %e, %k, 4;
    add.u64 %d, %d, %e;
    ld.local.u32 %k, [%d];
    st.param.b32 [r], %k;
    ret;
}
"""


def test_the_address_of_a_parameter_is_in_local_memory(run):
    body = """
    .param .align 4 .b8 given[16];
    .param .b32 got;
    st.param.b32 [given], %i;
    st.param.b32 [given+4], 40;
    st.param.b32 [given+8], 50;
    st.param.b32 [given+12], 60;
    and.b32 %b, %i, 3;
    call (got), pick, (given, %b);
    ld.param.b32 %a, [got];
"""
    out = run(body, before=ADDRESSED)
    assert out[:32].tolist() == [(i, 40, 50, 60)[i % 4] for i in range(32)]


NESTED = """
.func (.reg .u32 r) inner (.reg .u32 x)
{
    .reg .u32 %k;
    mov.u32 %k, 0;
LOOP:
    add.u32 r, x, %k;
    add.u32 %k, %k, 1;
    setp_guard
    ret;
}
.func (.reg .u32 r) outer (.reg .u32 x)
{
    .reg .u32 %a, %b;
    call (%a), inner, (x);
    call (%b), inner, (%a);
    mad.lo.u32 r, %a, 1000, %b;
    ret;
}
""".replace("setp_guard", ".reg .pred %p; setp.lt.u32 %p, %k, x; @%p bra LOOP;")


def test_calls_in_a_loop_from_lanes_that_come_apart(run):
    """Only some lanes call in each turn, and the callee's loop ends at different times."""

    def inner(x):
        return x + max(x, 1) - 1

    body = """
    mov.u32 %a, 0;
    mov.u32 %b, 0;
AGAIN:
    add.u32 %c, %i, %b;
    and.b32 %w, %c, 3;
    setp.ne.u32 %p, %w, 0;
    @%p call (%c), outer, (%c);
    add.u32 %a, %a, %c;
    add.u32 %b, %b, 1;
    setp.le.u32 %q, %b, %w;
    @%q bra AGAIN;
"""
    expected = []
    for i in range(32):
        a = b = 0
        while True:
            c = i + b
            w = c & 3
            if w:
                c = inner(c) * 1000 + inner(inner(c))
            a, b = a + c, b + 1
            if b > w:
                break
        expected.append(a)
    assert run(body, before=NESTED)[:32].tolist() == expected


def test_a_function_that_never_returns(run):
    before = """
.func finish (.param .b64 at) .noreturn
{
    .reg .b64 %d;
    .reg .b32 %a;
    ld.param.u64 %d, [at];
    mov.u32 %a, 3;
    st.global.u32 [%d], %a;
    exit;
}
"""
    body = """
    setp.lt.u32 %p, %i, 10;
    @!%p bra GO;
    { .param .b64 given; st.param.b64 [given], %at; call.uni finish, (given); }
GO:
    mov.u32 %a, 4;
"""
    assert run(body, before=before)[:32].tolist() == [3] * 10 + [4] * 22


def test_an_alias_is_the_function_that_it_stands_for(run):
    before = POINTERS + ".alias other, twice;\n"
    before = ".func (.param .b32 r) other (.param .b32 x);\n" + before
    body = """
    .param .b32 given, got;
    st.param.b32 [given], %i;
    call (got), other, (given);
    ld.param.b32 %a, [got];
"""
    assert run(body, before=before)[:32].tolist() == [2 * i for i in range(32)]


@pytest.mark.parametrize(
    ("before", "body", "message"),
    [
        (".extern .func missing (.param .b32 x);", "call missing, (%i);", "missing has no body"),
        (
            ".extern .func (.param .b32 r) cudaLaunchDeviceV2 (.param .b64 x, .param .b64 y);",
            "call (%a), cudaLaunchDeviceV2, (%d, %d);",
            "cudaLaunchDeviceV2: kernels that launch kernels by CUDA's first device runtime are",
        ),
        (
            ".extern .func (.param .b32 r) cudaGraphLaunch (.param .b64 x, .param .b64 y);",
            "call (%a), cudaGraphLaunch, (%d, %d);",
            "it calls cudaGraphLaunch: graphs are launched and changed by the host alone",
        ),
        (POINTERS, "call (%a), twice, (%i, %i);", "twice takes 1 arguments, not 2"),
        (POINTERS, "mov.u64 %s, twice; call (%a), %s, (%i);", "needs a list or a prototype"),
        (POINTERS, ".param .b32 g; st.param.b64 [g], %d;", "reaches outside g"),
        (POINTERS, ".param .align 8 .b8 g[8]; st.param.b32 [g+2], %i;", "is misaligned"),
    ],
)
def test_calls_that_cannot_be_made_are_refused_with_their_line(device, before, body, message):
    with pytest.raises(lockstep.InputError, match=message) as caught:
        device.load_ptx(kernel(body, before))
    assert "line" in caught.value.where

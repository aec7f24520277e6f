"""Programs about a thread's stack, and about which space an address is of."""

from ptx_twin.programs import BEGIN, END, HEADER, Program

FUNCTIONS = """
.func (.reg .u32 %sum) total(.reg .u32 %n)
{
    .reg .b64 %at; .reg .b32 %rest, %own; .reg .pred %p;
    alloca.u64 %at, 400;
    st.local.u32 [%at+396], %n;
    setp.eq.u32 %p, %n, 0;
    @%p bra DONE;
    sub.u32 %rest, %n, 1;
    call.uni (%rest), total, (%rest);
    ld.local.u32 %own, [%at+396];
    add.u32 %sum, %rest, %own;
    ret;
DONE:
    mov.u32 %sum, 100;
    ret;
}
.func (.reg .u32 %d) twice(.reg .u32 %n)
{
    .reg .b64 %at, %size; .reg .pred %p;
    mad.wide.u32 %size, %n, 4, 4;
    alloca.u64 %at, %size, 64;
    st.local.u32 [%at], %n;
    ld.local.u32 %d, [%at];
    setp.lt.u32 %p, %n, 16;
    @%p ret;
    add.u32 %d, %d, %d;
    ret;
}
"""
ALLOCA = (
    HEADER
    + FUNCTIONS
    + BEGIN
    + """
    mov.u32 %c, 0;
    mov.u32 %a, 0;
AGAIN:
    call.uni (%b), total, (3);
    add.u32 %a, %a, %b;
    call.uni (%b), twice, (%i);
    add.u32 %a, %a, %b;
    add.u32 %c, %c, 1;
    setp.lt.u32 %p, %c, 200;
    @%p bra AGAIN;
    stacksave.u64 %s;
    alloca.u64 %d, 16, 32;
    cvta.local.u64 %d, %d;
    stackrestore.u64 %s;
    alloca.u64 %s, 16, 32;
    cvta.local.u64 %s, %s;
    st.u32 [%d], %i;
    setp.eq.u64 %p, %s, %d;
    and.b64 %d, %d, 31;
    setp.eq.and.u64 %p, %d, 0, %p;
    @!%p trap;
    ld.u32 %b, [%s];
    add.u32 %a, %a, %b;
"""
    + END
)
CONSTANTS = """
.const .align 4 .u32 numbers[3] = {1, 2, 3};
.global .align 4 .u32 words[3];
"""
SPACES = (
    HEADER
    + CONSTANTS
    + BEGIN
    + """
    cvta.const.u64 %d, numbers;
    cvta.global.u64 %s, words;
    mov.u32 %a, 0;
    isspacep.const %p, %d;
    @%p add.u32 %a, %a, 1;
    isspacep.global %p, %d;
    @%p add.u32 %a, %a, 2;
    isspacep.const %p, %s;
    @%p add.u32 %a, %a, 4;
    isspacep.global %p, %s;
    @%p add.u32 %a, %a, 8;
    add.u64 %d, %d, 11;
    isspacep.const %p, %d;
    @%p add.u32 %a, %a, 16;
"""
    + END
)


def sums():
    return [200 * (106 + (n if n < 16 else 2 * n)) + n for n in range(32)]


PROGRAMS = (
    Program("alloca", ALLOCA, (1,), (32,), sums),
    Program("spaces", SPACES, (1,), (32,), lambda: [25] * 32),
)

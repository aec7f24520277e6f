"""What kernels ask the host for."""

import numpy as np
import pytest

import lockstep
from ptx_twin.programs import kernel

DECLARED = """
.extern .func (.param .b32 r) vprintf (.param .b64 form, .param .b64 arguments);
.extern .func (.param .b64 r) malloc (.param .b64 size);
.extern .func free (.param .b64 pointer);
.extern .func __assertfail (.param .b64 message, .param .b64 file, .param .b32 line,
                            .param .b64 function, .param .b64 size);
.func (.param .b32 r) print (.param .b64 form, .param .b32 x, .param .f64 y)
{
    .local .align 8 .b8 packed[16];
    .reg .b32 %x;
    .reg .b64 %f, %a;
    .reg .f64 %y;
    .param .b64 first, second;
    .param .b32 got;
    ld.param.u64 %f, [form];
    ld.param.u32 %x, [x];
    ld.param.f64 %y, [y];
    st.local.u32 [packed], %x;
    st.local.f64 [packed+8], %y;
    mov.u64 %a, packed;
    cvta.local.u64 %a, %a;
    st.param.b64 [first], %f;
    st.param.b64 [second], %a;
    call (got), vprintf, (first, second);
    ld.param.b32 %x, [got];
    st.param.b32 [r], %x;
    ret;
}
"""


def text(name, content):
    numbers = ", ".join(str(b) for b in [*content.encode(), 0])
    return f".global .align 1 .b8 {name}[{len(content.encode()) + 1}] = {{{numbers}}};\n"


def test_printf_writes_in_the_order_of_lanes_and_gives_the_number_of_arguments(run, capsys):
    before = text("form", "thread %d: %.1f%%\n") + DECLARED
    body = """
    mov.u64 %d, form;
    cvta.global.u64 %d, %d;
    call (%a), print, (%d, %n, 0d3fe0000000000000);
"""
    out = run(body, 2, 34, before=before)
    assert (out[:68] == 2).all()
    assert capsys.readouterr().out == "".join(f"thread {i}: 0.5%\n" for i in range(68))


def test_printf_from_lanes_that_come_apart(run, capsys):
    before = text("form", "%d ") + DECLARED
    body = """
    mov.u64 %d, form;
    cvta.global.u64 %d, %d;
    and.b32 %b, %i, 1;
    setp.eq.u32 %p, %b, 1;
    @%p bra ODD;
    call (%a), print, (%d, %i, 0d0000000000000000);
    bra DONE;
ODD:
    add.u32 %c, %i, 100;
    @%p call (%a), print, (%d, %c, 0d0000000000000000);
DONE:
"""
    run(body, 1, 8, before=before)
    assert capsys.readouterr().out == "0 2 4 6 101 103 105 107 "


def test_printf_without_a_format(run, capsys):
    out = run("call (%a), vprintf, (0, 0);", before=DECLARED)
    assert out[0] == 0xFFFFFFFF and capsys.readouterr().out == ""


LIST = """
    { .param .b64 size; .param .b64 got;
    st.param.b64 [size], 16;
    call (got), malloc, (size);
    ld.param.b64 %d, [got]; }
    st.u32 [%d+8], %i;
    mad.wide.u32 %s, %i, 8, %out;
    st.global.u64 [%s+4096], %d;
    bar.sync 0;
    xor.b32 %b, %i, 1;
    mad.wide.u32 %s, %b, 8, %out;
    ld.global.u64 %d, [%s+4096];
    ld.u32 %a, [%d+8];
    call free, (%d);
"""


def test_memory_from_the_heap_is_everybodys_until_it_is_freed(device, run):
    allocations = len(device.memory)
    out = run(LIST, 1, 64, before=DECLARED)
    np.testing.assert_array_equal(out[:64], np.arange(64) ^ 1)
    assert len(device.memory) == allocations


def test_the_heap_has_a_limit_and_freed_memory_can_be_had_again():
    device = lockstep.Device("QV100", heap_bytes=1000)
    take = "mov.u64 %d, 400; call (%s), malloc, (%d);"
    tell = "setp.ne.u64 %p, %s, 0; selp.u32 %a, 1, 0, %p;"
    out = device.array(np.zeros(64, np.uint32))
    keep = device.load_ptx(kernel(take + tell, DECLARED))["k"]
    keep[1, 4](out)
    assert out.numpy()[:4].tolist() == [1, 1, 0, 0]
    device = lockstep.Device("QV100", heap_bytes=1000)
    out = device.array(np.zeros(64, np.uint32))
    give_back = device.load_ptx(kernel(f"{take} call free, (%s); {tell}", DECLARED))["k"]
    for _ in range(3):
        give_back[1, 2](out)
    assert out.numpy()[:2].tolist() == [1, 1]


def test_malloc_of_nothing_and_free_of_null(run):
    body = "call (%s), malloc, (0); call free, (%s); setp.eq.u64 %p, %s, 0; selp.u32 %a, 1, 0, %p;"
    assert (run(body, before=DECLARED)[:32] == 1).all()


def test_many_allocations_outgrow_the_table(run):
    body = """
    mov.u32 %b, 0;
MORE:
    call (%d), malloc, (32);
    st.u64 [%d], %d;
    ld.u64 %s, [%d];
    setp.ne.u64 %p, %s, %d;
    @%p trap;
    add.u32 %b, %b, 1;
    setp.lt.u32 %q, %b, 5;
    @%q bra MORE;
"""
    run(body, 1, 64, before=DECLARED)


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ("call free, (%out);", "invalid_free", r"free of 0x[0-9a-f]+, which malloc did not give"),
        ("call (%s), malloc, (8); call free, (%s); call free, (%s);", "invalid_free", "free of"),
        ("call (%s), malloc, (8); call free, (%s); st.u32 [%s], %i;", "illegal_address", "write"),
        ("call (%a), vprintf, (64, 0);", "illegal_address", "the host cannot read 0x40"),
    ],
)
def test_misuse_of_services_is_a_fault_of_the_thread(run, body, kind, message):
    with pytest.raises(lockstep.LaunchError, match=message) as caught:
        run(body, before=DECLARED)
    assert caught.value.kind == kind
    assert caught.value.thread == (0, 0, 0)
    assert caught.value.place.line > 0


def test_a_failed_assertion_is_reported_as_cuda_does(run, capsys):
    before = DECLARED + "".join(
        text(name, content)
        for name, content in (("what", "x < 3"), ("file", "a.cu"), ("function", "void k(int)"))
    )
    body = """
    setp.lt.u32 %p, %n, 38;
    @%p bra FINE;
    { .param .b64 m, f, c, z; .param .b32 l;
    mov.u64 %d, what;
    st.param.b64 [m], %d;
    mov.u64 %d, file;
    st.param.b64 [f], %d;
    st.param.b32 [l], 12;
    mov.u64 %d, function;
    st.param.b64 [c], %d;
    st.param.b64 [z], 1;
    call __assertfail, (m, f, l, c, z); }
FINE:
"""
    with pytest.raises(lockstep.LaunchError, match="assertion failed") as caught:
        run(body, (1, 2), 40, before=before)
    assert capsys.readouterr().err == (
        "a.cu:12: void k(int): block: [0,0,0], thread: [38,0,0] Assertion `x < 3` failed.\n"
        "a.cu:12: void k(int): block: [0,0,0], thread: [39,0,0] Assertion `x < 3` failed.\n"
    )
    assert caught.value.kind == "assert" and caught.value.thread == (38, 0, 0)

"""Loops that wait for what others write, by the blocks that end their turns."""

import pytest

import lockstep

HEAD = ".version 8.5\n.target sm_80\n.address_size 64\n"
LOOP = """.visible .entry k(.param .u64 word)
{{
    .reg .pred %p; .reg .u32 %r<4>; .reg .u64 %rd;
    ld.param.u64 %rd, [word];
    mov.u32 %r1, %tid.x;
again:
    {body}
    setp.ne.u32 %p, %r0, %r1;
    @%p bra again;
    ret;
}}
"""
CALLED = """.func (.param .u32 value) peek(.param .u64 word)
{{
    .reg .u32 %r<4>; .reg .u64 %rd;
    ld.param.u64 %rd, [word];
    {body}
    st.param.u32 [value], %r0;
    ret;
}}
"""
CALL = """{ .param .u64 a; .param .u32 b;
    st.param.u64 [a], %rd;
    call (b), peek, (a);
    ld.param.u32 %r0, [b]; }"""


def waits(text):
    with lockstep.Device("A100") as device:
        return bool(device.load_ptx(HEAD + text)["k"].program.blocks["spins"].any())


BODIES = [
    ("ld.global.u32 %r0, [%rd];", False),
    ("ld.volatile.global.u32 %r0, [%rd];", True),
    ("membar.gl; ld.global.u32 %r0, [%rd];", True),
    ("ld.u32 %r0, [%rd]; fence.acq_rel.gpu;", True),
    ("membar.gl; ld.global.u32 %r2, [%rd]; mov.u32 %r0, 7;", False),  # it decides nothing
    ("membar.gl; ld.global.u32 %r0, [%rd]; st.global.u32 [%rd], %r1;", False),
    ("membar.gl; ld.global.u32 %r0, [%rd]; bar.sync 0;", False),
    ("membar.gl; ld.param.u32 %r0, [word];", False),
]


@pytest.mark.parametrize(("body", "expected"), BODIES)
def test_plain_loads_poll_where_a_fence_has_them_read_anew(body, expected):
    assert waits(LOOP.format(body=body)) == expected


@pytest.mark.parametrize(("body", "expected"), [b for b in BODIES if "7;" not in b[0]])
def test_so_do_those_of_a_function_that_a_loop_calls(body, expected):
    assert waits(CALLED.format(body=body) + LOOP.format(body=CALL)) == expected

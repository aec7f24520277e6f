"""PTX that is compiled in parts: when it is reached, function by function.

What is large is made small here, so that a kernel of a few functions comes in many parts.
"""

import numpy as np
import pytest

import lockstep
from lockstep.execution.programs import kept, native, parts
from lockstep.execution.programs.program import Recording

THREADS = 64
PTX = """.version 8.0
.target sm_80{debug}
.address_size 64
.global .u32 bias[2] = {{3, 5}};
.func (.param .b32 r) twice (.param .b32 x) {{
    .reg .b32 %a;
    ld.param.b32 %a, [x];
    shl.b32 %a, %a, 1;
    st.param.b32 [r], %a;
    ret;
}}
.func (.param .b32 r) never (.param .b32 x) {{
    .reg .b32 %a;
    ld.param.b32 %a, [x];
    mul.lo.u32 %a, %a, 77;
    st.param.b32 [r], %a;
    ret;
}}
.visible .entry k (.param .u64 out, .param .u32 limit) {{
    .local .align 4 .b8 own[16];
    .reg .b32 %i, %n, %s, %t, %b;
    .reg .b64 %at, %own, %bias;
    .reg .pred %p;
    mov.u32 %i, %tid.x;
    ld.param.u32 %n, [limit];
    ld.param.u64 %at, [out];
    mad.wide.u32 %at, %i, 4, %at;
    mov.u64 %own, own;
    cvta.local.u64 %own, %own;
    mov.u64 %bias, bias;
    cvta.global.u64 %bias, %bias;
    st.u32 [%own+4], %i;
    mov.u32 %s, 0;
    and.b32 %t, %i, 7;
LOOP:
    setp.eq.u32 %p, %t, 0;
    @%p bra DONE;
    {{ .param .b32 x; .param .b32 r;
    st.param.b32 [x], %s;
    call.uni (r), twice, (x);
    ld.param.b32 %s, [r]; }}
    ld.u32 %b, [%bias+4];
    add.u32 %s, %s, %b;
    sub.u32 %t, %t, 1;
    bra LOOP;
DONE:
    setp.lt.u32 %p, %i, %n;
    @%p bra END;
    {{ .param .b32 x; .param .b32 r;
    st.param.b32 [x], %s;
    call.uni (r), never, (x);
    ld.param.b32 %s, [r]; }}
END:
    ld.u32 %b, [%own+4];
    add.u32 %s, %s, %b;
    st.u32 [%at], %s;
    ret;
}}
"""
EXPECTED = [5 * ((1 << (i & 7)) - 1) + i for i in range(THREADS)]
FACTS = ("blocks", "items", "sites", "symbols", "guarded", "clock_reads", "code", "texts")


@pytest.fixture
def compiled(monkeypatch):
    """Texts that were compiled, but for routines; nothing is kept from before."""
    texts, assemble = [], native.assemble

    def noted(text, soon=False):
        if 'define i64 @"block0"' in text:
            texts.append((text, soon))
        return assemble(text, soon)

    monkeypatch.setattr(native, "assemble", noted)
    monkeypatch.setattr(kept, "program", lambda parts, make: make())
    monkeypatch.setattr(kept, "objects", lambda parts, make: make())
    return texts


@pytest.fixture(params=["", ", debug"])
def text(request):
    return PTX.format(debug=request.param)


def launch(device, text, limit=THREADS):
    out = device.zeros(THREADS, "u4")
    result = device.load_ptx(text)["k"][1, THREADS](out, np.uint32(limit))
    return out.numpy().tolist(), result


def test_functions_are_compiled_when_they_are_reached(text, compiled, monkeypatch):
    monkeypatch.setattr(parts, "WHOLE", 0)
    with lockstep.Device("A100") as device:
        program = device.load_ptx(text)["k"].translate(Recording.NOTHING)
        assert len(program.parts) == 3
        assert not compiled
        assert launch(device, text)[0] == EXPECTED
        assert len(compiled) == 2  # the kernel and twice
        assert launch(device, text, 0)[0][1] == 5 * 77 + 1
    assert {soon for _, soon in compiled} == {"debug" in text}


def test_parts_tell_the_same_of_their_code(text, compiled, monkeypatch):
    monkeypatch.setattr(parts, "PART", 8)
    recordings = (Recording.EVERYTHING, Recording.AT_ISSUE | Recording.PROFILE, Recording.RACES)
    with lockstep.Device("A100") as device:
        kernel = device.load_ptx(text)["k"]
        for recording in recordings:
            monkeypatch.setattr(parts, "WHOLE", 1 << 20)
            whole = kernel.translate(recording)
            monkeypatch.setattr(parts, "WHOLE", 0)
            several = kernel.translate(recording)
            assert len(several.parts) > len(whole.parts) == 1
            for fact in FACTS:
                one, other = getattr(whole, fact), getattr(several, fact)
                assert np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other


@pytest.mark.parametrize("at_issue", [False, True])
def test_time_and_counters_do_not_depend_on_parts(text, compiled, monkeypatch, at_issue):
    def told(whole):
        monkeypatch.setattr(parts, "WHOLE", whole)
        gpu = lockstep.gpu("A100", ["sm.count=4"])
        with lockstep.Device(gpu, timing=True, at_issue=at_issue, profile=True) as device:
            out, result = launch(device, text)
            assert out == EXPECTED
            return result.timed().sm.tobytes(), result.profile

    assert told(0) == told(1 << 20)


def test_a_wrong_access_is_told_as_in_one_piece(text, compiled, monkeypatch):
    def told(whole):
        monkeypatch.setattr(parts, "WHOLE", whole)
        with lockstep.Device("A100") as device, pytest.raises(lockstep.LockstepError) as caught:
            device.load_ptx(text)["k"][1, THREADS](np.uint64(8), np.uint32(THREADS))
        return str(caught.value)

    assert "thread (0, 0, 0)" in told(0)
    assert told(0) == told(1 << 20)

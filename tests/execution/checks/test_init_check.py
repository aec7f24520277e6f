"""``check="init"``: reads of bytes that nobody wrote."""

import numpy as np
import pytest

import lockstep
from ptx_twin.programs import kernel

READ_ROOM = "mad.lo.u32 %c, %i, 4, room; ld.shared.u32 %a, [%c];"


@pytest.mark.parametrize(
    "body",
    [
        READ_ROOM,
        "mov.u32 %c, room; ld.shared.u32 %a, [%c+8];",
        "mov.u32 %c, room; atom.shared.add.u32 %a, [%c], 1;",
        "xor.b32 %c, %i, 5; mad.lo.u32 %c, %c, 4, room; ld.shared.u32 %a, [%c];",
        "mov.u64 %d, room; cvta.shared.u64 %d, %d; ld.u32 %a, [%d];",
        "mov.u32 %c, room; st.shared.u8 [%c], 1; ld.shared.u32 %a, [%c];",
        "mov.u32 %c, room; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%a}, [%c];",
    ],
)
def test_reads_of_unwritten_shared_memory_are_found(find, body):
    (found,) = find("init", body)
    assert (found.check, found.kind) == ("init", "unwritten_read")
    assert "of shared memory, not all of them written" in found.message


@pytest.mark.parametrize(
    "body",
    [
        "mad.lo.u32 %c, %i, 4, room; st.shared.u32 [%c], %i; ld.shared.u32 %a, [%c];",
        "mov.u32 %c, room; st.shared.v4.u32 [%c], {%i, %i, %i, %i}; ld.shared.u32 %a, [%c+12];",
        "mov.u32 %c, room; atom.shared.exch.b32 %a, [%c], 1; ld.shared.u32 %a, [%c];",
        "mov.u32 %c, room; cp.async.ca.shared.global [%c], [%out], 8, 4; ld.shared.u32 %a, [%c+4];",
        "mov.u64 %d, room; cvta.shared.u64 %d, %d; st.u32 [%d], %i; ld.u32 %a, [%d];",
        "mov.u32 %c, room; st.shared.u8 [%c], 1; st.shared.u8 [%c+1], 1; ld.shared.u16 %h, [%c];",
        ".local .align 4 .b8 own[16]; mov.u32 %c, own; ld.local.u32 %a, [%c];",
        ".local .align 4 .b8 own[16]; mov.u64 %d, own; cvta.local.u64 %d, %d; ld.u32 %a, [%d];",
    ],
)
def test_written_bytes_and_private_memory_are_no_findings(find, body):
    assert find("init", f".reg .b16 %h;\n{body}") == []


def launch(device, body, *arrays):
    device.load_ptx(kernel(body))["k"][1, 32](arrays[0])
    return list(device.findings)


def test_reads_of_unwritten_device_memory_name_the_byte():
    with lockstep.Device("A100", check="init") as device:
        out = device.empty(64, np.uint32)
        out[:16].copy_from(1)
        (found,) = launch(device, "ld.global.u32 %a, [%at];", out)
        assert found.thread == (16, 0, 0) and found.count == 16
        assert "byte 64 of an allocation of 256 bytes" in found.message


def test_what_a_kernel_wrote_the_next_one_may_read():
    with lockstep.Device("A100", check="init") as device:
        out = device.empty(64, np.uint32)
        assert launch(device, "mov.u32 %a, 1;", out) == []
        assert launch(device, "ld.global.u32 %a, [%at];", out) == []


def test_memory_that_is_given_out_again_is_unwritten():
    with lockstep.Device("A100", check="init") as device:
        before = device.zeros(64, np.uint32).pointer
        out = device.empty(64, np.uint32)
        assert out.pointer == before
        assert len(launch(device, "ld.global.u32 %a, [%at];", out)) == 1


def test_shared_memory_of_a_new_block_is_unwritten(find):
    body = f"setp.eq.u32 %p, %n, %i; @!%p bra READ; mad.lo.u32 %c, %i, 4, room;\n\
    st.shared.u32 [%c], %i;\nREAD: {READ_ROOM}"
    (found,) = find("init", body, grid=2)
    assert found.cta == (1, 0, 0) and found.count == 64

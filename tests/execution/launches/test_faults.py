"""What ends a launch early is told with everything that helps to find it."""

import os
import pickle
import re
import signal
import threading

import numpy as np
import pytest

import lockstep
from lockstep.execution.programs.program import Recording
from ptx_twin.programs import kernel


def fail(device, body, grid=1, block=32, **options):
    """The error of a launch, and the line of the marked instruction."""
    text = kernel(body, options.pop("before", ""))
    out = device.array(np.zeros(64, np.uint32))
    marked = next((k for k, line in enumerate(text.splitlines(), 1) if "//here" in line), 0)
    with pytest.raises(lockstep.LaunchError) as caught:
        device.load_ptx(text)["k"][grid, block](out)
    return caught.value, marked, out


def test_threads_and_ctas_have_three_indices(device):
    body = """
    mov.u32 %b, %tid.y;
    mov.u32 %c, %ctaid.z;
    setp.eq.u32 %p, %b, 1;
    setp.eq.and.u32 %p, %c, 2, %p;
    setp.eq.and.u32 %p, %i, 3, %p;
    @%p trap; //here
"""
    error, line, _ = fail(device, body, (1, 2, 3), (4, 2, 2))
    assert error.kind == "trap" and error.kernel == "k"
    assert error.cta == (0, 0, 2) and error.thread == (3, 1, 0)
    assert error.place.line == line and error.place.instruction == "trap"


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ("add.u64 %d, %out, 254; ld.global.u16 %h, [%d+2]; //here", "illegal_address",
         "invalid global read of 2 bytes at {256:x}, 0 bytes behind the end of the "),
        ("st.global.u32 [%out+1000], %i; //here", "illegal_address",
         "invalid global write of 4 bytes at {1000:x}, 744 bytes behind the end of the "),
        ("atom.global.add.u32 %a, [%out+260], 1; //here", "illegal_address",
         "invalid global atomic of 4 bytes at {260:x}, 4 bytes behind the end of the "),
        ("ld.u64 %d, [%out+252]; //here", "misaligned",
         "misaligned global read of 8 bytes at {252:x}"),
        ("mov.u32 %b, 40; st.shared.u32 [%b], %b; //here", "shared_out_of_bounds",
         "invalid shared write of 4 bytes at 0x28, beyond its 32 bytes"),
        ("mov.u32 %b, 6; ld.shared.u32 %b, [%b]; //here", "misaligned",
         "misaligned shared read of 4 bytes at 0x6"),
        ("mov.u32 %b, 64; ld.local.u32 %b, [%b]; //here", "local_out_of_bounds",
         "invalid local read of 4 bytes at 0x40, beyond its 16 bytes"),
        ("mov.u64 %d, 0; cvta.shared.u64 %d, %d; st.u32 [%d+4096], %i; //here",
         "shared_out_of_bounds", "invalid shared write of 4 bytes at 0x1000"),
        ("mov.u64 %d, 16; ld.u8 %b, [%d]; //here", "illegal_address",
         "invalid global read of 1 bytes at 0x10, "),
        ("brkpt; //here", "trap", "brkpt"),
        ("TABLE: .branchtargets L; brx.idx %i, TABLE; //here\n L:", "bad_target", "no target"),
    ],
)  # fmt: skip
def test_kinds_of_faults(body, kind, message):
    device = lockstep.Device("QV100")
    before = ".shared .align 4 .b8 room[32];\n"
    body = ".local .align 4 .b8 mine[16]; .reg .b16 %h;\n" + body
    error, line, out = fail(device, body, before=before)
    assert error.kind == kind
    assert error.place.line == line and f"<ptx>:{line}" in str(error)
    if "{" in message:
        offset = int(message[message.index("{") + 1 : message.index(":x}")])
        message = message.replace(f"{{{offset}:x}}", f"{out.pointer + offset:#x}")
        assert error.address == out.pointer + offset
    if "behind" in message:
        assert error.allocation == (out.pointer, 256)
        message += f"nearest allocation of 256 bytes at {out.pointer:#x}"
    assert message in str(error)


def test_an_access_may_reach_beyond_the_end():
    device = lockstep.Device("QV100")
    out = device.array(np.zeros(63, np.uint32))
    text = kernel("ld.global.v2.u32 {%a, %b}, [%out+248];")
    with pytest.raises(lockstep.LaunchError, match="of which 4 bytes are behind the end"):
        device.load_ptx(text)["k"][1, 1](out)


def test_the_line_of_the_source_and_of_what_it_is_inlined_into(device):
    before = """
.file 1 "/home/me/code.cu"
.file 2 "/home/me/header.cuh"
.section .debug_str {
NAME:
.b8 105, 110, 0
}
"""
    body = """
    .loc 1 10 3
    add.u32 %b, %b, 1;
    .loc 2 77 5, function_name NAME, inlined_at 1 10 9
    trap; //here
"""
    error, _, _ = fail(device, body, before=before)
    assert error.place.sources == (("/home/me/header.cuh", 77), ("/home/me/code.cu", 10))
    assert str(error).endswith("(/home/me/header.cuh:77, inlined at /home/me/code.cu:10)")


def test_a_fault_in_a_function_names_its_line(device):
    before = ".func inner (.reg .u32 x) { .reg .pred %p; setp.eq.u32 %p, x, 9; @%p trap; ret; }\n"
    error, _, _ = fail(device, "call inner, (%i);", before=before)
    assert error.thread == (9, 0, 0)
    assert error.place.line == 4 and error.place.instruction == "trap"


def test_other_launches_go_on_and_the_error_can_be_pickled(device):
    error, _, out = fail(device, "trap;")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.place == error.place and again.kind == "trap"
    device.load_ptx(kernel("mov.u32 %a, 3;"))["k"][1, 32](out)
    assert out.numpy()[:32].tolist() == [3] * 32


def test_memory_that_was_freed_is_no_longer_known(device):
    """The site that accessed it last must not let the next launch through."""
    k = device.load_ptx(kernel("mov.u32 %a, 1;"))["k"]
    first = device.array(np.zeros(64, np.uint32))
    k[1, 32](first)
    pointer = first.pointer
    del first

    class Stale:
        pass

    stale = Stale()
    stale.pointer = pointer
    with pytest.raises(lockstep.LaunchError):
        k[1, 32](stale)


def test_an_endless_loop_ends_at_the_limit_and_tells_where():
    device = lockstep.Device("QV100", limit_instructions=100_000)
    body = "mov.u32 %b, 0;\nLOOP:\n    add.u32 %b, %b, 1; //here\n    bra LOOP;"
    error, line, _ = fail(device, body, 3, 64)
    assert error.kind == "limit"
    assert re.search(r"stopped after 1[0-9]{5} warp instructions", str(error))
    assert f"add.u32 at <ptx>:{line}" in str(error)


def test_the_limit_holds_where_ctas_are_asked_for_one_by_one():
    device = lockstep.Device("QV100", timing=True, limit_instructions=10)
    k = device.load_ptx(kernel("add.u32 %b, %b, 1;\n" * 3))["k"]
    k[100, 32](device.zeros(32, np.uint32))
    with pytest.raises(lockstep.LaunchError, match="warp instructions, its limit") as caught:
        device.synchronize()
    assert caught.value.kind == "limit"


def test_ctrl_c_ends_an_endless_loop_at_once(device):
    body = "LOOP:\n    ld.volatile.global.u32 %b, [%out]; //here\n    bra LOOP;"
    k = lockstep.Device("QV100").load_ptx(kernel(body))["k"]
    out = k.module.device.array(np.zeros(64, np.uint32))
    k.executor(Recording.NOTHING)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt) as caught:
        k[100, 256](out)
    assert "ld.volatile.global.u32 at <ptx>:" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("directives", "grid", "block", "shared", "message"),
    [
        ("", 1, 1025, 0, "1024"),
        ("", 1, (1, 1, 65), 0, r"\(1024, 1024, 64\)"),
        ("", (1, 65536), 32, 0, "65535"),
        ("", 1, 32, 1 << 20, "shared memory"),
        (".maxntid 64, 1, 1", 1, 96, 0, r"its \.maxntid allows 64"),
        (".reqntid 64, 2, 1", 1, (64, 1), 0, r"its \.reqntid is \(64, 2, 1\)"),
        (".reqnctapercluster 2", 2, 32, 0, "QV100 has no clusters"),
    ],
)
def test_launches_beyond_a_limit_are_refused(device, directives, grid, block, shared, message):
    text = kernel("").replace("(.param .u64 k_out)", f"(.param .u64 k_out) {directives}")
    out = device.array(np.zeros(2048, np.uint32))
    with pytest.raises(lockstep.WorkloadError, match=message):
        device.load_ptx(text)["k"][grid, block, shared](out)

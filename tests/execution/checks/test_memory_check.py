"""``check="memory"``: what lies just outside an allocation, what was freed, and going on after."""

import numpy as np
import pytest

import lockstep
from lockstep.errors import LockstepError
from ptx_twin.programs import kernel


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ("st.global.u32 [%at+512], %i;", "illegal_address", "invalid global write of 4 bytes"),
        ("ld.global.u32 %a, [%at+-4];", "illegal_address", "4 bytes before the nearest"),
        ("atom.global.add.u32 %a, [%out+516], 1;", "illegal_address", "4 bytes behind the end"),
        ("ld.global.u32 %a, [%at+2];", "misaligned", "misaligned global read of 4 bytes"),
        ("mov.u32 %b, 512; st.shared.u32 [%b], %i;", "shared_out_of_bounds", "its 512 bytes"),
        ("mov.u32 %b, 16; st.local.u32 [%b], %i;", "local_out_of_bounds", "its 16 bytes"),
        ("mov.u32 %b, room; cp.async.ca.shared.global [%b], [%out+1024], 4;", "illegal_address",
         "512 bytes behind the end"),
        ("wmma.load.c.sync.aligned.m16n16k16.global.row.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, "
         "%f7}, [%out+256], 16;", "illegal_address", "invalid global"),
    ],
)  # fmt: skip
def test_wrong_accesses_are_listed_and_the_launch_goes_on(find, body, kind, message):
    body = f".reg .f32 %f<8>; .local .align 4 .b8 own[16];\n{body}"
    (found,) = find("memory", body)
    assert (found.check, found.kind, found.kernel) == ("memory", kind, "k")
    assert message in found.message and found.place.line > 0 and found.count >= 1


def test_all_kinds_are_found_in_one_launch_and_counted(find):
    body = "st.global.u32 [%at+512], %i;\n st.global.u32 [%at+1024], %i;\n ld.global.u32 %a, [%at];"
    one, two = find("memory", body)
    assert (one.count, two.count) == (64, 64)
    assert one.thread == (0, 0, 0) and one.cta == (0, 0, 0)
    assert "thread (0, 0, 0) of block (0, 0, 0); 64 times" in str(one)


def test_right_lanes_of_a_wrong_access_do_what_they_should():
    with lockstep.Device("H100", check="memory") as device:
        out = device.array(np.zeros(64, np.uint32))
        text = kernel("st.global.u32 [%at+128], %i;\n mov.u32 %a, 7;")
        device.load_ptx(text)["k"][1, 64](out)
        assert out.numpy()[:32].tolist() == [7] * 32 and len(device.findings) == 1


@pytest.mark.parametrize("size", [252, 256, 4096])
def test_four_bytes_past_a_buffer_are_in_no_other(size):
    with lockstep.Device("H100", check="memory") as device:
        first, second = (device.array(np.zeros(size // 4, np.uint32)) for _ in range(2))
        device.load_ptx(kernel(f"st.global.u32 [%out+{size}], 1;"))["k"][1, 1](first)
        (found,) = device.findings
        assert f"0 bytes behind the end of the nearest allocation of {size} bytes" in str(found)
        assert not second.numpy().any()


def test_a_use_after_free_names_the_allocation_that_was():
    with lockstep.Device("H100", check="memory") as device:
        out = device.array(np.zeros(64, np.uint32))
        gone = device.array(np.zeros(32, np.uint32))
        address = gone.pointer
        del gone
        again = device.array(np.zeros(32, np.uint32))
        device.load_ptx(kernel(f"mov.u64 %d, {address}; ld.global.u32 %a, [%d];"))["k"][1, 1](out)
        (found,) = device.findings
        assert again.pointer != address
        assert f"in a freed allocation of 128 bytes at {address:#x}" in str(found)


def test_freed_memory_is_given_out_again_when_no_other_is_left():
    with lockstep.Device("H100", check="memory", memory_bytes=1 << 20) as device:
        for _ in range(20):
            device.array(np.zeros(100_000, np.uint8))


def test_a_copy_that_goes_on_outside_ends_the_launch():
    body = """
    mov.u32 %b, room;
    @%p bra DONE;
    cp.async.bulk.global.shared::cta.bulk_group [%out+128], [%b], 512;
DONE:
"""
    with lockstep.Device("H100", check="memory") as device:
        out = device.array(np.zeros(64, np.uint32))
        loaded = device.load_ptx(kernel(body, ".shared .align 16 .b8 room[512];\n"))["k"]
        with pytest.raises(lockstep.LaunchError, match="behind the end"):
            loaded[1, 1](out)


def test_without_the_check_nothing_is_listed():
    with lockstep.Device("H100") as device:
        assert list(device.findings) == []


def test_unknown_checks_are_refused():
    with pytest.raises(LockstepError, match="no check 'racing': expected memory, init, races, all"):
        lockstep.Device("H100", check="memory,racing")

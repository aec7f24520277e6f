"""Machine code and state of kernels in this process: little for each, wherever there is room."""

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lockstep
from lockstep._jit.loading import Loaded
from lockstep.execution.launches.geometry import Geometry
from lockstep.execution.launches.launch import Executor
from lockstep.execution.memory.device_memory import DeviceMemory
from lockstep.execution.memory.storage import Storage, StorageLayout
from lockstep.execution.programs.native import assemble
from lockstep.execution.programs.program import Recording
from lockstep.execution.ptx.program import translate
from lockstep.isa.ptx.parser import parse
from ptx_twin.programs import kernel

# In a process whose addresses are used so that data finds room in a gap of 64 KiB, and code, of
# which a function has 4 MiB, only three GiB below.
SPREAD = """
import ctypes
from lockstep._jit.loading import Loaded
from lockstep.execution.programs import native

FIXED = 0x100000
objects = native.assemble('''
define i64 @f(ptr %p, i32 %lanes) prefix [4194304 x i8] zeroinitializer {
  %x = load <4 x float>, ptr %p, align 4
  %y = fmul <4 x float> %x, <float 1.0, float 2.0, float 3.0, float 4.0>
  store <4 x float> %y, ptr %p, align 4
  ret i64 7
}
''')
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p


def reserve(address, size, flags=0):
    place, flags = ctypes.c_void_p(address), 0x4022 | flags
    return libc.mmap(place, ctypes.c_size_t(size), 0, flags, -1, ctypes.c_long(0))


lines = [line.split()[0].split("-") for line in open("/proc/self/maps")]
taken = [(int(start, 16), int(end, 16)) for start, end in lines]
for (_, start), (end, _) in zip(taken, taken[1:]):
    if 1 << 20 <= end - start < 1 << 34:
        reserve(start, end - start, FIXED)
low = reserve(0, 3 << 30)
libc.munmap(ctypes.c_void_p(low + (3 << 30) - (1 << 20)), ctypes.c_size_t(1 << 16))
loaded = Loaded(objects, ["f"])
values = (ctypes.c_float * 4)(1, 1, 1, 1)
call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int)(loaded.address("f"))
assert call(ctypes.addressof(values), 0) == 7
assert list(values) == [1, 2, 3, 4]
"""


def test_code_reaches_its_data_wherever_there_is_room():
    done = subprocess.run([sys.executable, "-c", SPREAD], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_cut_object_is_an_exception():
    objects = assemble("define i64 @f(ptr %p, i32 %m) {\n ret i64 1\n}\n")
    with pytest.raises(RuntimeError):
        Loaded(objects[: len(objects) // 2], ["f"])


# Lanes and mask of a predicate that is the same in every lane: LLVM got all lanes but one wrong.
SAME = """
define void @f(i32 %x, ptr %mask, ptr %out) {
  %active = bitcast i32 %x to <32 x i1>
  %one = insertelement <32 x i32> undef, i32 %x, i32 0
  %all = shufflevector <32 x i32> %one, <32 x i32> %one, <32 x i32> zeroinitializer
  %none = icmp eq <32 x i32> %all, zeroinitializer
  %some = xor <32 x i1> %none, splat (i1 true)
  %here = and <32 x i1> %active, %some
  %numbers = load <32 x i32>, ptr %out, align 64
  %more = add <32 x i32> %numbers, splat (i32 1)
  %number = select <32 x i1> %here, <32 x i32> %numbers, <32 x i32> %more
  %any = xor <32 x i1> %none, splat (i1 true)
  %still = and <32 x i1> %active, %any
  %further = add <32 x i32> %number, splat (i32 1)
  %sums = select <32 x i1> %still, <32 x i32> %number, <32 x i32> %further
  %bits = bitcast <32 x i1> %none to i32
  %before = load i32, ptr %mask, align 4
  %change = xor i32 %before, %bits
  %changed = and i32 %change, %x
  %after = xor i32 %before, %changed
  store i32 %after, ptr %mask, align 4
  call void @llvm.masked.store.v32i32.p0(<32 x i32> %sums, ptr align 64 %out, <32 x i1> %active)
  ret void
}
declare void @llvm.masked.store.v32i32.p0(<32 x i32>, ptr, <32 x i1>)
"""


@pytest.mark.parametrize("none", ["%none", "%1"])  # passes make values without names
def test_a_predicate_that_is_the_same_in_every_lane(none):
    code = Loaded(assemble(SAME.replace("%none", none)), ["f"])
    words = np.arange(64, dtype=np.uint32)
    words = words[-words.ctypes.data % 64 // 4 :]
    expected, out = words[:33].copy(), words.ctypes.data
    call = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p)
    call(code.address("f"))(0xFFFFFFFF, out + 128, out)
    expected[32] = 0
    np.testing.assert_array_equal(words[:33], expected)


@pytest.fixture(scope="module")
def program():
    """One thread of each CTA adds what is in shared, local memory and registers to the output."""
    text = kernel(
        """
    .shared .align 4 .b8 own[16384];
    .local .align 4 .b8 stack[256];
    setp.ne.u32 %p, %i, 0;
    @%p exit;
    st.shared.u32 [own], 1;
    st.local.u32 [stack+252], 1;
    ld.shared.u32 %a, [own];
    ld.local.u32 %b, [stack+252];
    add.u32 %a, %a, %b;
    red.global.add.u32 [%out], %a;
    exit;
"""
    )
    return translate(parse(text, "k.ptx"), "k", "test_native", Recording.NOTHING)


def mappings():
    """How many the process has, and the bytes of their addresses."""
    sizes = [
        int(end, 16) - int(start, 16)
        for line in Path("/proc/self/maps").read_text().splitlines()
        for start, end in [line.split()[0].split("-")]
    ]
    return len(sizes), sum(sizes)


def test_five_hundred_kernels_share_the_state_of_their_launches(program):
    memory, storage = DeviceMemory(1 << 20), Storage()
    out = memory.allocate(4)
    parameters = np.array([out], np.int64).view(np.uint8)
    geometry = Geometry((1000, 1, 1), (256, 1, 1), 32, places=512)
    executors = []

    def load(count):
        for _ in range(count):
            executor = Executor(program, memory, np.zeros(1, np.int64), storage=storage)
            executor.run(geometry, parameters)
            executors.append(executor)

    load(1)
    before = mappings()
    load(500)
    number, size = (now - then for now, then in zip(mappings(), before))
    assert int(memory.view(out, 4).view(np.uint32)[0]) == 501 * 1000 * 2
    assert number <= 5 * 500
    assert size <= 500 * (3 << 20)
    memory.close()


def test_launches_at_the_same_time_have_state_of_their_own(program):
    memory = DeviceMemory(1 << 20)
    executor = Executor(program, memory, np.zeros(1, np.int64))
    parameters = np.array([memory.allocate(4)], np.int64).view(np.uint8)
    geometry = Geometry((1, 1, 1), (32, 1, 1), 32)
    with executor.begin(geometry, parameters) as one, executor.begin(geometry, parameters) as two:
        assert not np.shares_memory(one.machine.registers, two.machine.registers)
        first = one.machine.registers
    with executor.begin(geometry, parameters) as three:
        assert np.shares_memory(three.machine.registers, first)
    memory.close()


def test_storage_grows_and_is_used_again():
    storage = Storage()
    small = storage.borrow(1000)
    other = storage.borrow(1000)
    assert not np.shares_memory(small.bytes, other.bytes)
    storage.give_back(small)
    assert storage.borrow(900) is small
    storage.give_back(small)
    large = storage.borrow(50000)
    assert len(large.bytes) >= 50000
    storage.give_back(large)
    assert storage.borrow(1000) is large


def test_a_kernel_sees_nothing_of_what_another_left_in_shared_memory():
    reads = """
    .shared .align 4 .b8 own[16384];
    mad.wide.u32 %d, %i, 4, 0;
    cvt.u32.u64 %c, %d;
    ld.shared.u32 %a, [%c];
    st.shared.u32 [%c], 7;
"""
    with lockstep.Device("QV100") as device:
        out = device.zeros(64, "i4")
        one, other = (
            device.load_ptx(kernel(reads + more))["k"] for more in ("", "add.u32 %a, %a, 0;")
        )
        for k in (one, other, one):
            k[2, 32](out)
            assert not out.numpy()[:32].any()


def test_storage_that_the_system_does_not_have_is_a_line():
    with pytest.raises(MemoryError, match="4611686018427387904 bytes for the CTAs of a launch: "):
        Storage().borrow(1 << 62)


def test_a_layout_aligns_each_array():
    layout = StorageLayout(bytes=(np.uint8, 3), words=(np.int64, 2, 5), none=(np.int64, 0))
    arrays = layout.zeros()
    assert [a.shape for a in arrays.values()] == [(3,), (2, 5), (0,)]
    assert arrays["words"].ctypes.data % 64 == 0
    assert layout.bytes == 64 + 128
    assert not arrays["words"].any()

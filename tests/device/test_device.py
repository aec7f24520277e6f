import gc

import numpy as np
import pytest

import lockstep
from lockstep import kernels
from lockstep.errors import LockstepError, WorkloadError
from lockstep.execution.launches import launch


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "u1", "f2", "c8", "?"])
def test_arrays_come_back_as_they_went(device, dtype):
    values = np.arange(30).reshape(5, 6).astype(dtype)
    array = device.array(values)
    assert array.shape == (5, 6) and array.dtype == values.dtype and len(array) == 5
    assert array.nbytes == values.nbytes
    np.testing.assert_array_equal(array.numpy(), values)


def test_parts_share_memory_and_keep_it(device):
    array = device.array(np.arange(12).reshape(4, 3))
    part, row = array[1:3], array[-1]
    assert part.shape == (2, 3) and row.shape == (3,)
    assert row[1].numpy() == [10]
    part.copy_from(-1)
    np.testing.assert_array_equal(array.numpy()[:, 0], [0, -1, -1, 9])
    used = device.memory.used
    del array, row
    gc.collect()
    assert device.memory.used == used
    np.testing.assert_array_equal(part.numpy(), np.full((2, 3), -1))
    del part
    gc.collect()
    assert device.memory.used == 0


@pytest.mark.parametrize(
    "act, message",
    [
        (lambda a: a[5], "outside the 4 rows"),
        (lambda a: a[::2], "no steps"),
        (lambda a: a.copy_from(np.zeros(3)), r"shape \(3,\) do not fit \(4,\)"),
        (lambda a: a[:3].view("f8"), "12 bytes are no whole number of elements of float64"),
        (lambda a: a.device.array([[1], [2, 3]]), "no array of numbers"),
    ],
)
def test_misuse_of_arrays_is_refused(device, act, message):
    with pytest.raises((LockstepError, IndexError), match=message):
        act(device.zeros(4))


def test_numpy_reads_arrays(device):
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    array = device.array(values)
    for read in (np.asarray(array), np.array(array), np.array(array, copy=True)):
        assert read.dtype == np.float32
        np.testing.assert_array_equal(read, values)
    assert np.asarray(array, dtype="i8").dtype == np.int64
    assert np.add(array, 1).sum() == 21
    read = np.asarray(array)
    read[:] = 0
    np.testing.assert_array_equal(array.numpy(), values, "what NumPy gets is a copy")
    with pytest.raises(ValueError, match="copy"):
        np.asarray(array, copy=False)
    again = device.array(array)
    np.testing.assert_array_equal(again.numpy(), values)
    again.copy_from(device.zeros((2, 3)))
    assert not again.numpy().any()
    assert not hasattr(array, "__cuda_array_interface__"), "no GPU could use the address"


def test_an_array_without_axes(device):
    array = device.array(np.float64(2.5))
    assert np.asarray(array).shape == () and float(np.asarray(array)) == 2.5
    with pytest.raises(TypeError, match="no length"):
        len(array)


def test_zeros_are_zero_where_others_were(device):
    device.array(np.full(1000, 7.0))
    assert not device.zeros(1000, "f8").numpy().any()


def test_no_python_objects_in_device_memory(device):
    with pytest.raises(LockstepError, match="no Python objects"):
        device.array(np.array([object()]))


def test_exhausted_memory_is_one_error(small_gpu):
    with lockstep.Device(small_gpu, memory_bytes=1 << 20) as device:
        array = device.empty(1 << 18, "u1")
        with pytest.raises(LockstepError, match="device memory exhausted"):
            device.empty(1 << 20, "u1")
        array.copy_from(1)  # others go on


def test_memory_is_the_gpus_and_taken_where_it_is_touched():
    with lockstep.Device("H100") as device:
        assert device.memory.capacity == 80 << 30
        large = device.empty(60 << 30, "u1")
        large[-8:].copy_from(7)
        assert large[-8:].numpy().tolist() == [7] * 8
    for size in (0, -1, (1 << 40) + 1):
        with pytest.raises(LockstepError, match=r"memory_bytes = .*1 TiB"):
            lockstep.Device("H100", memory_bytes=size)


@pytest.mark.parametrize(
    ("stack", "memory", "why"),
    [(-1, None, "expected 0 to 524288"), ((512 << 10) + 1, None, "expected 0 to"),
     (65536, 4 << 30, "room for 18396 of each of the 233472 threads"), (360 << 10, None, "room")],
)  # fmt: skip
def test_stacks_that_no_gpu_has(stack, memory, why):
    with pytest.raises(LockstepError, match=why):
        lockstep.Device("H100", stack_bytes=stack, memory_bytes=memory)


def test_a_kernel_runs_on_a_partial_last_block(device, ptx):
    x, y = np.arange(1000, dtype="f4"), np.ones(1000, "f4")
    out = device.array(np.append(y, np.zeros(24, "f4")))
    device.load_ptx(ptx)["axpy"][4, 256](1000, 3.0, device.array(x), out)
    np.testing.assert_array_equal(out.numpy(), np.append(3 * x + y, np.zeros(24)))


def test_shared_and_local_memory_and_divergence(device, ptx):
    rng = np.random.default_rng(1)
    values = rng.integers(0, 1 << 30, 256 * 3 + 8, "u4")
    out = device.empty(256, "u4")
    device.load_ptx(ptx)["mixed"][2, (16, 8)](device.array(values), out)
    linear = np.tile(np.arange(16), 8)  # threads of a block by their tid.x only
    expected = []
    for block in range(2):
        i = block * 16 + linear
        sums = [values[3 * k : 3 * k + k % 8].sum(dtype="u4") + k % 8 for k in i]
        expected.append(dict(zip(i, sums)))
    got = out.numpy()
    for k, total in (expected[0] | expected[1]).items():
        assert got[k] == np.uint32(total)


def test_variables_of_a_module(device, ptx):
    module = device.load_ptx(ptx)
    assert module.symbol("scale").numpy() == [2.0]
    total = module.symbol("total")
    assert total.dtype == np.uint32 and total.shape == (2,)
    total.copy_from([1, 2])
    np.testing.assert_array_equal(module.symbol("total").numpy(), [1, 2])
    with pytest.raises(WorkloadError, match="no variable nothing; it has total, scale"):
        module.symbol("nothing")


TEMPLATES = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry _Z5scaleIfEvPT_i() { ret; }
.visible .entry _Z5scaleIdEvPT_i() { ret; }
.visible .entry _ZN2ns3addEPf() { ret; }
"""


def test_kernels_have_their_names_in_cpp(device):
    module = device.load_ptx(TEMPLATES)
    assert module["scale<float>"] is module["_Z5scaleIfEvPT_i"]
    assert module["void scale<double>(double*, int)"].name == "_Z5scaleIdEvPT_i"
    assert module["add"] is module["ns::add"] is module["ns::add(float*)"]
    assert repr(module["add"]).startswith("<Kernel ns::add(float*) of ")
    with pytest.raises(WorkloadError, match=r"scale may be void scale<float>\(float\*, int\),"):
        module["scale"]
    for name in ("scale<int>", "x::add", "", "(", "operator()"):
        with pytest.raises(WorkloadError, match="it has void scale<float>"):
            module[name]


def test_a_view_has_another_type(device):
    array = device.array(np.array([1.0, -2.0], "f4"))
    raw = array.view(np.uint8)
    assert raw.shape == (8,) and raw.pointer == array.pointer
    raw.view("u4").copy_from([0x40400000, 0x40800000])
    np.testing.assert_array_equal(array.numpy(), [3.0, 4.0])
    del array
    gc.collect()
    assert raw.numpy()[3] == 0x40


@pytest.mark.parametrize(
    "configuration, message",
    [
        (4, r"expected \[grid, block, shared_bytes, stream\]"),
        ((1, 2, 3, 4, 5), r"expected \[grid, block, shared_bytes, stream\]"),
        ((0, 32), "grid 0; expected one to three positive whole numbers"),
        ((1, (32, 0)), r"block \(32, 0\); expected"),
        ((1, 1.5), "block 1.5; expected"),
        ((1, (1, 2, 3, 4)), "block"),
        ((1, 32, 0, 9), "9 is no stream of this device"),
        ((1, 32, "0"), "'0' bytes of dynamic shared memory"),
    ],
)
def test_wrong_launch_configurations(device, ptx, configuration, message):
    with pytest.raises(LockstepError, match=message):
        device.load_ptx(ptx)["axpy"][configuration]


def test_a_launch_without_configuration(device, ptx):
    with pytest.raises(WorkloadError, match=r"kernel axpy: launch it as kernel\[grid, block\]"):
        device.load_ptx(ptx)["axpy"](1, 2)


@pytest.mark.parametrize("option", [{"limit_instructions": 0}, {"heap_bytes": -1}])
def test_options_out_of_range(small_gpu, option):
    with pytest.raises(LockstepError, match=f"{next(iter(option))} = .*: expected at least"):
        lockstep.Device(small_gpu, **option)


@pytest.mark.parametrize(
    "geometry, message",
    [
        ((1, (1024, 2)), "2048 threads"),
        ((1, 1025), r"block \(1025, 1, 1\); a GPU takes at most"),
        ((1, 32, 1 << 20), "shared memory"),
        (((1, 70000), 32), "grid"),
    ],
)
def test_launches_beyond_the_gpu_are_refused(device, timed, ptx, geometry, message):
    for on in (device, timed):
        array = on.empty(8)
        with pytest.raises(WorkloadError, match=message):
            on.load_ptx(ptx)["axpy"][geometry](8, 1.0, array, array)


@pytest.mark.parametrize("ctas", [1, 3, 16])
def test_strides_may_lead_out_of_device_memory(small_gpu, ctas):
    """What a loop would access next is fetched early, be it where nothing is."""
    bytes_each = 1 << 19
    with lockstep.Device(small_gpu, memory_bytes=2 * bytes_each, heap_bytes=0) as device:
        n = bytes_each // 4
        x, y = device.array(np.arange(n, dtype="f4")), device.array(np.ones(n, "f4"))
        assert y.pointer + y.nbytes == device.memory.base + device.memory.capacity
        device.load_ptx(kernels.load("saxpy").ptx)["saxpy"][ctas, 256](n, 2.0, x, y)
        np.testing.assert_array_equal(y.numpy(), 2 * np.arange(n, dtype="f4") + 1)


def test_a_closed_device_says_so(small_gpu, ptx):
    device = lockstep.Device(small_gpu)
    array = device.empty(4)
    kernel = device.load_ptx(ptx)["wild"][1, 1]
    device.close()
    device.close()
    for act in (
        lambda: device.array([1]),
        lambda: device.load_ptx(ptx),
        lambda: kernel(array),
        lambda: array.numpy(),
        lambda: array.copy_from(0),
    ):
        with pytest.raises(LockstepError, match="the device is closed"):
            act()


def test_a_functional_device_has_no_cycles(device, ptx):
    launch = device.load_ptx(ptx)["wild"][1, 1](device.empty(1))
    for ask in (lambda: launch.cycles, lambda: device.result, lambda: device.event().record()):
        with pytest.raises(LockstepError, match="timing=True"):
            ask()
    with pytest.raises(LockstepError, match="profile=True"):
        _ = launch.profile
    assert repr(device) == "<Device QV100, functional, 1 launches>"


def test_many_devices_one_after_the_other(small_gpu):
    gc.collect()
    gc.freeze()  # what is there already, lest each of them looks at it for garbage
    for _ in range(12):  # more than there are address ranges: those not in use are taken back
        lockstep.Device(small_gpu).array([1])


@pytest.mark.parametrize("compiled", [True, False])
def test_the_first_compilation_is_announced(monkeypatch, compiled):
    monkeypatch.setattr(launch, "is_compiled", lambda function: compiled)
    heard = []
    lockstep.Device("QV100", notice=heard.append).close()
    assert heard == ([] if compiled else [launch.NOTICE])

"""OpenCL kernels for Southern Islands on a device: arguments, sizes, mistakes, streams, time."""

from pathlib import Path

import numpy as np
import pytest

import cal_files
import lockstep
from gcn_twin import images
from lockstep.device.arguments import pack
from lockstep.device.image import sampler
from lockstep.errors import LockstepError, WorkloadError
from lockstep.execution.programs.program import Recording
from lockstep.isa.instruction import OpClass

FOLDER = Path(__file__).parents[2] / "examples" / "southern-islands" / "kernels"


@pytest.fixture
def device():
    with lockstep.Device(memory_bytes=1 << 26) as device:
        yield device


def load(device, name):
    return device.load_gcn(FOLDER / f"{name}.bin")[name]


@pytest.fixture
def transpose(device):
    return load(device, "transpose")


def test_a_module_tells_what_it_is(device):
    module = device.load_gcn((FOLDER / "daxpy.bin").read_bytes())
    assert repr(module) == "<Module <binary>, machine code of Southern Islands: daxpy>"
    with pytest.raises(WorkloadError, match="has no kernel saxpy; it has daxpy"):
        module["saxpy"]


def test_values_and_arrays_are_arguments(device):
    x, y = np.arange(100.0), np.ones(100)
    out = device.array(y)
    load(device, "daxpy")[128, 64](device.array(x), out, 0.5, 100)
    assert np.array_equal(out.numpy(), 0.5 * x + y)


def test_sizes_must_fit(transpose, device):
    a = device.zeros((32, 32))
    for wrong, message in (
        (((32, 32), (32, 8)), r"work-groups of \(32, 8, 1\); it was compiled for \(16, 16, 1\)"),
        (((30, 32), (16, 16)), r"a global size of \(30, 32, 1\) is no multiple of the local size"),
        (((32, 32), (16, 16), None, 1), r"expected \[global_size, local_size, stream\]"),
        (((32, 0), (16, 16)), r"global size \(32, 0\); expected one to three positive"),
    ):
        with pytest.raises(WorkloadError, match=message):
            transpose[wrong](a, a, 32, 32)
    copy = load(device, "vector_add")
    with pytest.raises(WorkloadError, match="work-groups of 512 work-items; at most 256"):
        copy[512, 512](a, a, a, 4)


def test_arguments_must_fit(transpose, device):
    a = device.zeros((32, 32))
    for wrong, message in (
        ((a, a, 32), "takes 4 arguments, 3 given"),
        ((a, 7, 32, 32), r"argument 1 \(in\): an array of the device is expected, not int"),
        ((a, a, 32, 1.5), r"argument 3 \(height, u32\): cannot take float 1.5"),
        ((a, a, 1 << 40, 32), r"argument 2 \(width, u32\): 1099511627776 is out of range"),
        ((a, a, lockstep.local(4), 32), r"a value of type u32 is expected, not local memory"),
    ):
        with pytest.raises(WorkloadError, match=message):
            transpose[(32, 32), (16, 16)](*wrong)


def test_a_global_size_has_a_word_in_each_dimension(transpose):
    with pytest.raises(WorkloadError, match=r"a global size of \(4294967296, 16, 1\); at most"):
        transpose[(1 << 32, 16), (16, 16)]


def test_local_memory_must_fit(device):
    """An argument takes what is left of 32 KiB, in units of 16 bytes."""
    source = cal_files.Source("k", metadata=[
        ";memory:hwlocal:1000", ";pointer:room:float:1:1:0:hl:1:16:RW:0:0",
    ])  # fmt: skip
    kernel = device.load_gcn(cal_files.binary([(source, bytes.fromhex("000081bf"))]))["k"]
    kernel[64, 64](lockstep.local(32768 - 1008))
    message = "kernel k: 1000 bytes of LDS of its own and 31776 for arguments; a work-group has"
    with pytest.raises(WorkloadError, match=message):
        kernel[64, 64](lockstep.local(32768 - 1007))


def test_scratch_memory_is_refused(device):
    for size, refused in (("0", False), ("16", True)):
        source = cal_files.Source("k", metadata=[f";memory:uavprivate:{size}"])
        module = device.load_gcn(cal_files.binary([(source, bytes.fromhex("000081bf"))]))
        if refused:
            with pytest.raises(
                WorkloadError, match="kernel k keeps 16 bytes of each work-item in s"
            ):
                module["k"]
        else:
            module["k"][64, 64]()


def test_local_memory_is_a_size_in_bytes():
    assert lockstep.local(16).bytes == 16
    for wrong in (-1, 1.5, True, "16"):
        with pytest.raises(WorkloadError, match="expected bytes, a whole number from 0 on"):
            lockstep.local(wrong)


def test_what_is_outside_of_a_buffer_is_nothing_and_a_finding(transpose):
    source = np.arange(1024, dtype=np.float32).reshape(32, 32)
    half = source.T[:16]
    with lockstep.Device(memory_bytes=1 << 26) as device:
        out = device.zeros((16, 32))
        load(device, "transpose")[(32, 32), (16, 16)](out, device.array(source), 32, 32)
        assert np.array_equal(out.numpy(), half)
    with lockstep.Device(memory_bytes=1 << 26, check="memory") as device:
        out = device.zeros((16, 32))
        load(device, "transpose")[(32, 32), (16, 16)](out, device.array(source), 32, 32)
        assert np.array_equal(out.numpy(), half)
        (found,) = device.findings.document()["findings"]
        assert found["kind"] == "buffer_out_of_bounds"
        assert found["count"] == 512
        assert "invalid buffer write of 4 bytes at 0x800" in found["message"]


@pytest.mark.parametrize("given", [np.float64, np.int32, np.float16, np.uint8, np.complex128])
def test_an_array_that_a_kernel_would_take_for_another_is_refused(device, given):
    scan, out = load(device, "scan")[(256,), (256,)], device.zeros(256)
    wrong = device.zeros(256, given)
    message = rf"kernel scan, argument 0 \(in\): elements are of type float, .* {wrong.dtype}: "
    with pytest.raises(WorkloadError, match=message):
        scan(wrong, out)
    scan(device.zeros(1024, np.uint8).view(np.float32), out)


@pytest.mark.parametrize(
    ("kernel", "given"), [("rotate", np.int32), ("brighten", np.uint8), ("brighten", np.float32)]
)
def test_signs_do_not_matter_and_bytes_may_be_anything(device, kernel, given):
    out = device.zeros(64, given)
    load(device, kernel)[(64,), (64,)](device.zeros(64, given), out, 1)
    assert (out.numpy().view(np.uint8)[:64] == (kernel == "brighten")).all()


@pytest.mark.parametrize("given", [np.complex64, [("x", "f4"), ("y", "f4")]])
def test_several_elements_may_be_one_of_the_array(device, given):
    """Pairs for ``float2``: the metadata names what a vector is of."""
    source = np.ones(128, np.float32).view(given)
    out = device.zeros(64 * 4)
    load(device, "scale4")[(32,), (32,)](device.array(source), out, 3.0)
    assert (out.numpy()[:128] == 3).all()


def test_images_keep_their_elements(device):
    pixels = np.random.default_rng(3).integers(0, 256, (16, 32, 4), dtype=np.uint8)
    out = device.image(np.zeros_like(pixels))
    copy = load(device, "image_copy")
    copy[(32, 16), (16, 8)](device.image(pixels), out)
    assert np.array_equal(out.numpy(), pixels)
    with pytest.raises(WorkloadError, match=r"argument 1 \(out\): a 2D image is expected"):
        copy[(32, 16), (16, 8)](out, device.array(pixels))


@pytest.mark.parametrize(
    "values, message",
    [
        (np.zeros((4, 4, 3), np.uint8), "no image has 3 channels of uint8"),
        (np.zeros((4, 4, 2)), "no image has 2 channels of float64"),
        (np.zeros(4, np.uint8), r"an image of shape \(4,\)"),
        (np.zeros((1, 20000, 1), np.uint8), r"an image of \(1, 1, 20000\) elements; at most"),
    ],
)
def test_what_is_no_image_is_refused(device, values, message):
    with pytest.raises(LockstepError, match=message):
        device.image(values)


@pytest.mark.parametrize(
    ("number", "mode", "plain", "linear"),
    [(0x16, images.BORDER, True, False), (0x23, images.WRAP, False, True),
     (0x14, images.LAST, True, False), (0x29, images.MIRROR, False, True)],
)  # fmt: skip
def test_samplers_have_the_numbers_of_opencl(number, mode, plain, linear):
    words = images.words(mode, plain=plain, linear=linear)
    assert sampler(number) == np.array(words, np.uint32).tobytes()


@pytest.mark.parametrize("number", [0x06, 0x36, 0x1B, 0x56])
def test_what_is_no_sampler_is_refused(number):
    with pytest.raises(LockstepError, match=f"sampler {number:#x}: expected CLK_NORMALIZED_COORDS"):
        sampler(number)


@pytest.fixture
def streamed(device):
    """The CTAs of a transposition as the timing model reads them, and the kernel's records."""
    kernel = load(device, "transpose")
    source = np.arange(1024, dtype=np.float32).reshape(32, 32)
    out = device.zeros((32, 32))
    executor = kernel.executor(Recording.EVERYTHING)
    arguments = (out, device.array(source), 32, 32)
    geometry = kernel.geometry(((2, 2, 1), (16, 16, 1), 0))
    placed, _ = kernel.place_local(arguments)
    block = kernel.block(pack(kernel.name, kernel.parameters, placed), geometry)
    ctas = list(executor.ctas(geometry, block))
    assert np.array_equal(out.numpy(), source.T)
    return ctas, executor.program


def test_streams_tell_each_instruction_once(streamed):
    ctas, program = streamed
    assert len(ctas) == 4
    for cta in ctas:
        for warp in cta.warps:
            runs = cta.runs[warp["first_run"] :][: warp["runs"]]
            static = np.concatenate([np.arange(r["count"]) + r["static"] for r in runs])
            assert np.array_equal(static, np.arange(len(program.code)))


def test_scalar_loads_are_accesses_of_one_lane(streamed):
    (cta, *_), program = streamed
    scalar = set(np.flatnonzero(program.code["op"] == OpClass.SCALAR_LOAD))
    assert scalar
    for run in cta.runs:
        static = set(range(run["static"], run["static"] + run["count"]))
        assert (run["mask"] == 1) == bool(static & scalar)
        assert static <= scalar or not static & scalar


def test_waits_tell_their_counts(streamed):
    _, program = streamed
    waits = program.code[program.code["op"] == OpClass.WAIT_COUNT]
    assert {0x07F, 0xF70} <= {int(word) & 0xFFF for word in waits["immediate"]}


def test_a_timed_run_gives_the_same_results():
    source = np.arange(1024, dtype=np.float32).reshape(32, 32)
    with lockstep.Device("HD7770", timing=True) as device:
        out = device.zeros((32, 32))
        launch = load(device, "transpose")[(32, 32), (16, 16)](out, device.array(source), 32, 32)
        assert launch.cycles > 0
        assert np.array_equal(out.numpy(), source.T)
    with lockstep.Device("HD7770", timing=True, at_issue=True) as device:
        out = device.zeros((32, 32))
        launch = load(device, "transpose")[(32, 32), (16, 16)](out, device.array(source), 32, 32)
        assert launch.cycles > 0
        assert np.array_equal(out.numpy(), source.T)

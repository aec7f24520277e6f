"""Hopper's instructions from machine code, against NumPy and the twin: ``ptx_twin/hopper.py``."""

import struct
from pathlib import Path

import numpy as np
import pytest

import lockstep
from lockstep.execution.memory.tensor_maps import Tensor, encode
from lockstep.execution.programs.program import Recording
from lockstep.isa.sass.binary import read_cubin
from lockstep.isa.sass.encoding import BYTES, disassemble
from ptx_twin import cluster_programs, hopper, tensor
from ptx_twin.hopper import machine_code
from ptx_twin.tensor_programs import COPIES, SHARED, map_of, matrix

CASES = 3  # a kernel
COMBINATIONS = {
    "add": lambda old, new: old + new,
    "min": min,
    "inc": lambda old, x: 0 if old >= x else old + 1,
    "xor": lambda old, new: old ^ new,
}


@pytest.fixture(scope="module")
def device():
    with lockstep.Device("H100", timing=False, limit_instructions=5_000_000) as device:
        yield device


@pytest.mark.long
@pytest.mark.parametrize("name", hopper.products())
def test_products_of_warpgroups(device, name):
    product = hopper.products()[name]
    got = product.run(device.load_cubin(machine_code(product.text)))
    np.testing.assert_array_equal(got, product.want)


def run(device, text, made, buffer, case, place):
    """The buffer after the kernel."""
    held = device.array(buffer)
    at = struct.pack("<5i", *case.at, *[0] * (5 - len(case.at)))
    offsets = struct.pack("<3H", *case.offsets, *[0] * (3 - len(case.offsets)))
    kernel = device.load_cubin(machine_code(text))["k"]
    kernel[1, 32](made, held, at, offsets, place, tensor.tile_bytes(case))
    return held.numpy()


def random_copies(axes, unrolls):
    """Copies with the tensor, the shared memory, and the place of the tile in it."""
    rng = np.random.default_rng(10 * axes + unrolls)
    for _ in range(CASES):
        place = 128 * int(rng.integers(0, 8))
        case = tensor.random_case(rng, axes, unrolls, SHARED - place)
        yield case, *(rng.integers(0, 256, n, np.uint8) for n in (case.bytes, SHARED)), place


@pytest.mark.long
@pytest.mark.parametrize("axes, unrolls", COPIES)
def test_loads_of_tiles(device, axes, unrolls):
    for case, there, shared, place in random_copies(axes, unrolls):
        made = map_of(device, case, device.array(there))
        got = run(device, hopper.loading(axes, unrolls), made, shared, case, place)
        np.testing.assert_array_equal(got, tensor.load(case, there, shared, place), str(case))


@pytest.mark.long
@pytest.mark.parametrize("axes, unrolls", COPIES)
def test_stores_of_tiles(device, axes, unrolls):
    for case, there, shared, place in random_copies(axes, unrolls):
        case.offsets = (0,) * len(case.offsets)
        held = device.array(there)
        made = map_of(device, case, held)
        run(device, hopper.storing(axes, unrolls), made, shared, case, place)
        want = tensor.store(case, there, shared, place)
        np.testing.assert_array_equal(held.numpy(), want, str(case))


@pytest.mark.long
@pytest.mark.parametrize("operation", hopper.REDUCED)
def test_reductions_of_tiles(device, operation):
    case = matrix(sizes=(16, 12), strides=(4, 128), at=(11, 7))
    there, shared = np.random.default_rng(5).integers(0, 50, (2, SHARED // 4), np.uint32)
    there, shared = there.view(np.uint8)[: case.bytes], shared.view(np.uint8)
    held = device.array(there)
    run(device, hopper.reducing(operation), map_of(device, case, held), shared, case, 0)
    want = tensor.store(case, there, shared, 0, COMBINATIONS[operation])
    np.testing.assert_array_equal(held.numpy(), want)


def test_hints_change_nothing(device):
    made = device.tensor_map(device.zeros((8, 8)), (4, 4))
    got = run(device, hopper.HINTS, made, np.zeros(SHARED, np.uint8), matrix(), 0)
    assert got.view(np.uint32)[:2].tolist() == [7, 0]


def test_a_kernel_makes_a_tensor_map(device):
    """Where it writes the fields, the host does, too: behind the first half all is our own."""
    array = device.zeros(64, "f2")
    out = device.zeros(128, np.uint8)
    device.load_cubin(machine_code(hopper.MADE))["k"][1, 32](array.pointer, out)
    strides = (0x1234567890,)
    tensor = Tensor(array.pointer, "f16", (64, 20), strides, (1, 3), swizzle=64, fill="nan")
    assert out.numpy().tobytes() == encode(tensor, (32, 16))[:64] + bytes(64)


def test_products_of_what_is_outside_a_tensor(device):
    pairs = [(0x3C00, 0x4000), (0x7FF7, 0x4000), (0x4000, 0x7FF7), (0x4000, 0xFFF7)]
    held = device.array(np.array(pairs, np.uint16))
    device.load_cubin(machine_code(hopper.OUTSIDE))["k"][1, 4](0, held)
    expected = [[0x4400, 0x40C0], [0, 0x40C0], [0, 0], [0, 0]]
    assert held.numpy().tolist() == expected


@pytest.mark.long
@pytest.mark.parametrize("name", hopper.IN_CLUSTERS)
@pytest.mark.parametrize("shape", ("one", "two", "planes"))
def test_what_goes_to_other_ctas(device, name, shape):
    text = cluster_programs.PROGRAMS[name]
    cluster, grid = cluster_programs.SHAPES[shape]
    kernel = device.load_cubin(machine_code(text))["k"]
    _, out = cluster_programs.launch(kernel, grid, cluster)
    np.testing.assert_array_equal(out.numpy(), cluster_programs.by_twin(text, grid, cluster))


REFUSED = {  # bits of a program's instructions that are changed
    "no product has this shape": (hopper.products()["bf16"].text, "HGMMA", 3 << 58, 1 << 58),
    "one end must be in shared memory": (
        cluster_programs.PROGRAMS["a copy to every other CTA"], "UBLKCP", 3 << 73, 0
    ),
    "no such elements can be combined": (
        cluster_programs.PROGRAMS["reductions that complete a barrier"], "REDAS",
        15 << 87 | 7 << 73, 3 << 87 | 2 << 73,
    ),
    "im2col takes 3 to 5 axes": (hopper.loading(3, True), "UTMALDG", 15 << 79, 9 << 79),
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSED)
def test_what_no_assembler_makes_is_refused(device, message):
    text, mnemonic, mask, bits = REFUSED[message]
    data = machine_code(text)
    [function] = read_cubin(data, Path("k")).kernels
    for i in disassemble(function.code, 90):
        if i.mnemonic == mnemonic:
            changed = i.word & ~mask | bits
            old, new = (word.to_bytes(BYTES, "little") for word in (i.word, changed))
            data = data.replace(old, new)
    with pytest.raises(lockstep.LockstepError, match=message):
        device.load_cubin(data)["k"].executor(Recording(0))

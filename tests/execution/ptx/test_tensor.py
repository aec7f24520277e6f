"""Bulk tensor copies against a twin: tiles and im2col, inside and across the edges, reduced."""

import struct

import numpy as np
import pytest

import lockstep
from lockstep.execution.memory.tensor_maps import replace_address
from ptx_twin import tensor as twin
from ptx_twin.tensor_programs import (
    COPIES,
    LOAD,
    SHARED,
    kernel,
    load_body,
    map_of,
    matrix,
    store_body,
)

CASES = 12  # a kernel


def run(device, text, made, buffer, case, place=0, size=None):
    """The buffer after the kernel."""
    held = device.array(buffer)
    at = struct.pack("<5i", *case.at, *[0] * (5 - len(case.at)))
    offsets = struct.pack("<3H", *case.offsets, *[0] * (3 - len(case.offsets)))
    size = twin.tile_bytes(case) if size is None else size
    device.load_ptx(text)["k"][1, 32](made, held, at, offsets, place, size)
    return held.numpy()


def random_bytes(rng, size):
    return rng.integers(0, 256, size, dtype=np.uint8)


@pytest.mark.parametrize("axes, unrolls", COPIES)
def test_loads(device, axes, unrolls):
    rng = np.random.default_rng(100 * axes + unrolls)
    form = LOAD.replace("global.", "global.im2col.") if unrolls else LOAD
    text = kernel(load_body(axes, form))
    for _ in range(CASES):
        place = 128 * int(rng.integers(0, 8))
        case = twin.random_case(rng, axes, unrolls, SHARED - place)
        tensor, shared = random_bytes(rng, case.bytes), random_bytes(rng, SHARED)
        made = map_of(device, case, device.array(tensor))
        got = run(device, text, made, shared, case, place)
        np.testing.assert_array_equal(got, twin.load(case, tensor, shared, place), str(case))


@pytest.mark.long
@pytest.mark.parametrize("axes, unrolls", COPIES)
def test_stores(device, axes, unrolls):
    rng = np.random.default_rng(100 * axes + 50 + unrolls)
    mode = ".im2col_no_offs" if unrolls else ""
    form = f"cp.async.bulk.tensor.{{}}.global.shared::cta{mode}.bulk_group"
    text = kernel(store_body(axes, form))
    for _ in range(CASES):
        place = 128 * int(rng.integers(0, 8))
        case = twin.random_case(rng, axes, unrolls, SHARED - place)
        case.offsets = (0,) * len(case.offsets)
        tensor, shared = random_bytes(rng, case.bytes), random_bytes(rng, SHARED)
        held = device.array(tensor)
        got = run(device, text, map_of(device, case, held), shared, case, place)
        np.testing.assert_array_equal(got, shared)
        want = twin.store(case, tensor, shared, place)
        np.testing.assert_array_equal(held.numpy(), want, str(case))


# Facts of the manual and of measurements that others published, not of the twin


def loaded(device, case, array, place=0):
    text = kernel(
        load_body(len(case.at), (case.pixels and LOAD.replace("al.", "al.im2col.")) or LOAD)
    )
    made = map_of(device, case, device.array(array))
    return run(device, text, made, np.zeros(SHARED, np.uint8), case, place).view(np.uint32)


COUNT = np.arange(1, 1 << 16, dtype=np.uint32)


def test_rows_under_a_swizzle_are_as_far_apart_as_it_is_wide(device):
    got = loaded(device, matrix(box=(8, 5), steps=(1, 2), swizzle=128), COUNT)
    rows = got.reshape(-1, 32)[:3]
    assert rows[0, :8].tolist() == list(range(1, 9))
    assert rows[1, :8].tolist() == [69, 70, 71, 72, 65, 66, 67, 68]
    assert rows[2, 8:16].tolist() == list(range(129, 137))


def test_im2col_begins_the_next_image_at_the_lower_corner(device):
    images = {"sizes": (16, 5, 8), "strides": (4, 64, 320), "steps": (1, 2, 1), "at": (0, 1, 0)}
    images |= {"lower": (-1,), "upper": (-1,), "offsets": (1,), "channels": 8, "pixels": 13}
    got = loaded(device, matrix(**images), COUNT).reshape(-1, 8)[:13, 0]
    assert got.tolist() == [33, 65, 81, 113, 145, 161, 193, 225, 241, 273, 305, 321, 353]


@pytest.mark.parametrize("interleave, swizzle", [(16, 0), (32, 32)])
def test_an_interleaved_tensor_has_slices_on_its_first_axis(device, interleave, swizzle):
    cube = {"sizes": (32, 4, 2), "strides": (interleave, 128, 512), "steps": (1, 1, 1)}
    cube |= {"box": (16, 2, 1), "at": (4, 0, 0), "interleave": interleave, "swizzle": swizzle}
    got = loaded(device, matrix(**cube), COUNT)
    first, size = interleave // 4 * 4 + 1, interleave * 4
    order = np.arange(first, first + size)
    if swizzle:
        order.reshape(-1, 2, 32)[:, 1] = order.reshape(-1, 2, 4, 2, 4)[:, 1, :, ::-1].reshape(
            -1, 32
        )
    assert got[:size].tolist() == order.tolist()


@pytest.mark.parametrize("kind", ["f16", "f64", "tf32"])
def test_the_nan_outside_is_the_same_in_every_16_bits(device, kind):
    side = 128 // twin.SIZES[kind]
    outside = matrix(kind=kind, sizes=(side, 8), box=(side // 4, 8), at=(0, 7), fill="nan")
    got = loaded(device, outside, COUNT)
    assert set(got[8:64].tolist()) == {0x7FF77FF7} and got[0] != 0x7FF77FF7


ROUNDED = {
    0x3F801001: 0x3F802000, 0x3F803000: 0x3F804000, 0x80000001: 0x80000000, 1: 0,
    0x007FFFFF: 0x00800000, 0x7F800001: 0x7FFFE000, 0xFF800001: 0x7FFFE000, 0xFF800000: 0xFF800000,
    0xBF801000: 0xBF802000, 0x3FFFFFFF: 0x40000000, 0x2000: 0x2000,
}  # fmt: skip


def test_tf32_is_rounded_when_it_is_loaded(device):
    values = np.array(list(ROUNDED) + [0] * 5, np.uint32)
    row = {"sizes": (16,), "strides": (4,), "steps": (1,), "box": (16,), "at": (0,)}
    assert loaded(device, matrix(kind="tf32", **row), values)[:11].tolist() == [*ROUNDED.values()]
    assert loaded(device, matrix(kind="f32.ftz", **row), values)[:11].tolist() == [*ROUNDED]


# Forms


@pytest.mark.parametrize(
    "form, more",
    [
        ("shared::cta.global.tile.mbarrier::complete_tx::bytes", ""),
        ("shared::cluster.global.mbarrier::complete_tx::bytes.tile", ""),
        (f"{LOAD}.L2::cache_hint", ", %m"),
    ],
)
def test_a_map_in_global_memory_of_a_part_of_an_array(device, form, more):
    array = np.arange(20 * 64, dtype=np.uint32).reshape(20, 64)
    made = device.tensor_map(device.array(array)[2:], (4, 8), shape=(9, 32), strides=(512,))
    text = kernel(load_body(2, form, more), pointer=True)
    case = matrix(sizes=(32, 9), strides=(4, 512), box=(8, 4), at=(28, 3))
    held = device.array(np.frombuffer(made, np.uint8))
    got = run(device, text, held, np.zeros(SHARED, np.uint8), case).view(np.uint32)
    want = np.zeros((4, 8), np.uint32)
    want[:, :4] = array[2::2, :32][3:7, 28:]
    np.testing.assert_array_equal(got[:32].reshape(4, 8), want)


def test_im2col_with_a_hint_and_modifiers_in_another_order(device):
    """The offsets come before the cache policy."""
    images = {"sizes": (16, 5, 8), "strides": (4, 64, 320), "steps": (1, 1, 1), "at": (0, 0, 0)}
    images |= {"lower": (0,), "upper": (0,), "offsets": (2,), "channels": 8, "pixels": 3}
    case, form = matrix(**images), LOAD.replace("shared", "im2col.shared")
    text = kernel(load_body(3, f"{form}.L2::cache_hint", ", %m"))
    made = map_of(device, case, device.array(COUNT))
    got = run(device, text, made, np.zeros(SHARED, np.uint8), case).view(np.uint32)
    assert got[:24:8].tolist() == [33, 49, 65]


@pytest.mark.parametrize("mask, arrives", [(1, True), (3, True), (2, False)])
def test_a_load_for_the_ctas_that_a_mask_names(device, mask, arrives):
    """A cluster is one CTA, number 0: what is not for it changes nothing, and is not counted."""
    case = matrix(box=(4, 4), at=(4, 4))
    body = f".reg .b16 %mask; mov.u16 %mask, {mask};\n"
    text = kernel(body + load_body(2, f"{LOAD}.multicast::cluster", ", %mask"))
    made = map_of(device, case, device.array(COUNT))
    shared = np.full(SHARED, 7, np.uint8)
    got = run(device, text, made, shared, case, size=None if arrives else 0)
    np.testing.assert_array_equal(
        got, twin.load(case, COUNT.view(np.uint8), shared, 0) if arrives else shared
    )


REDUCTIONS = {
    "add": (lambda old, new: old + new, "u32 s32 u64 f16 f32 f32.ftz f64"),
    "min": (min, "s32 s64 f16"),
    "max": (max, "u32 u64 f16"),
    "and": (lambda old, new: old & new, "u32"),
    "or": (lambda old, new: old | new, "s64"),
    "xor": (lambda old, new: old ^ new, "u32"),
    "inc": (lambda old, x: 0 if old >= x else old + 1, "u32"),
    "dec": (lambda old, x: x if old == 0 or old > x else old - 1, "u32"),
}


@pytest.mark.long
@pytest.mark.parametrize("operation", REDUCTIONS)
def test_reductions(device, operation):
    combine, kinds = REDUCTIONS[operation]
    rng = np.random.default_rng(5)
    form = f"cp.reduce.async.bulk.tensor.{{}}.global.shared::cta.{operation}.tile.bulk_group"
    text = kernel(store_body(2, form))
    for kind in kinds.split():
        name = kind.partition(".")[0].replace("s", "i")
        dtype = np.dtype(f"{name[0]}{twin.SIZES[kind]}")
        case = matrix(kind=kind, sizes=(16, 12), strides=(dtype.itemsize, 128), at=(11, 7))
        values = rng.integers(0 if dtype.kind == "u" else -50, 50, (2, SHARED)).astype(dtype)
        tensor, shared = (v.view(np.uint8)[:SHARED].copy() for v in values)
        held = device.array(tensor[: case.bytes])
        run(device, text, map_of(device, case, held), shared, case)
        want = twin.store(case, tensor[: case.bytes], shared, 0, combine, dtype)
        np.testing.assert_array_equal(held.numpy(), want, kind)


def test_f32_ftz_adds_no_subnormal_numbers(device):
    form = "cp.reduce.async.bulk.tensor.{}.global.shared::cta.add.bulk_group"
    row = {"sizes": (4,), "strides": (4,), "steps": (1,), "box": (4,), "at": (0,)}
    for kind, want in (("f32.ftz", 0), ("f32", 3)):
        held = device.array(np.ones(4, np.uint32))
        case = matrix(kind=kind, **row)
        shared = np.full(SHARED // 4, 2, np.uint32).view(np.uint8)
        run(device, kernel(store_body(1, form)), map_of(device, case, held), shared, case)
        assert held.numpy().tolist() == [want] * 4


def test_a_reduction_in_im2col_mode(device):
    images = {"sizes": (8, 5, 3), "strides": (4, 32, 160), "steps": (1, 1, 1), "at": (0, 3, 1)}
    case = matrix(**images, lower=(1,), upper=(-1,), offsets=(0,), channels=4, pixels=5)
    form = "cp.reduce.async.bulk.tensor.{}.global.shared::cta.add.im2col_no_offs.bulk_group"
    tensor, shared = COUNT[:120].view(np.uint8), COUNT[: SHARED // 4].view(np.uint8)
    held = device.array(tensor)
    run(device, kernel(store_body(3, form)), map_of(device, case, held), shared, case)
    want = twin.store(case, tensor, shared, 0, lambda old, new: old + new)
    np.testing.assert_array_equal(held.numpy(), want)


def test_hints_change_nothing(device):
    body = """prefetch.tensormap [%m]; cp.async.bulk.prefetch.tensor.2d.L2.global [%m, {0, 0}];
cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%m, {0, 0, 0}], {%o0};
fence.proxy.tensormap::generic.acquire.gpu [%m], 128; st.shared.u32 [%s], 7;"""
    made = device.tensor_map(device.zeros((8, 8)), (4, 4))
    got = run(device, kernel(body), made, np.zeros(SHARED, np.uint8), matrix())
    assert got.view(np.uint32)[:2].tolist() == [7, 0]


# Mistakes


def fails(device, case, message, array=None, body=None, made=None):
    made = made or map_of(device, case, device.array(COUNT if array is None else array))
    with pytest.raises(lockstep.LockstepError, match=message):
        run(device, kernel(body or load_body(2)), made, np.zeros(SHARED, np.uint8), case)


def test_what_is_no_fitting_map_ends_the_launch(device):
    images = {"sizes": (16, 5, 8), "strides": (4, 64, 320), "steps": (1, 1, 1), "at": (0, 0, 0)}
    images = matrix(**images, lower=(0,), upper=(0,), offsets=(0,), channels=8, pixels=2)
    flat = device.tensor_map(device.zeros(64), (16,))
    unrolled = map_of(device, images, device.array(COUNT))
    for made in (bytes(128), flat, unrolled):
        fails(device, matrix(), "no fitting tensor map", made=made)
    body = load_body(3)
    fails(device, images, "no fitting tensor map", made=unrolled, body=body)


def test_a_reduction_of_other_elements_ends_the_launch(device):
    form = "cp.reduce.async.bulk.tensor.{}.global.shared::cta.inc.bulk_group"
    body = store_body(2, form)
    fails(device, matrix(kind="f32"), "no fitting tensor map", body=body)


def test_a_tile_that_leaves_shared_memory_ends_the_launch(device):
    case = matrix(sizes=(32, 256), box=(32, 256))
    fails(device, case, "shared")


def test_only_what_a_tile_reads_must_be_there(device):
    """The map may describe more than the allocation has."""
    case = matrix(sizes=(32, 64), at=(0, 29))
    array = device.array(COUNT[: 32 * 64])
    made = map_of(device, case, array)
    half = device.array(COUNT[: 32 * 37])  # no other array begins where it ends
    moved = replace_address(bytes(made), half.pointer)
    run(device, kernel(load_body(2)), moved, np.zeros(SHARED, np.uint8), case)
    case.at = (0, 30)
    fails(device, case, "invalid global", made=moved)


@pytest.mark.parametrize(
    "instruction, message",
    [
        ("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%m, {%c0}], [%s];", "2 coordi"),
        ("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%m], [%s];", "in brackets"),
        (f"cp.async.bulk.tensor.2d.{LOAD} [%s], [%m, {{%c0, %c1}}];", "takes 3 operands"),
        (
            "cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%m, {%c0, %c1, %c2}];",
            "takes 2 operands",
        ),
        (
            f"cp.async.bulk.tensor.4d.{LOAD.replace('al.', 'al.im2col.')} "
            "[%s], [%m, {%c0, %c1, %c2, %c3}], [%b], {%o0};",
            "2 offsets",
        ),
    ],
)
def test_the_wrong_operands_are_refused(device, instruction, message):
    with pytest.raises(lockstep.InputError, match=message):
        device.load_ptx(kernel(instruction))

"""Bulk tensor copies against NumPy: tiles inside and across the edges, swizzled, reduced."""

import itertools

import numpy as np
import pytest

import lockstep

HEADER = ".version 8.7\n.target sm_90\n.address_size 64\n"
SHARED = 16384


@pytest.fixture(scope="module")
def device():
    return lockstep.Device("QV100", timing=False)


def kernel(body, pointer=False):
    """One thread runs the body; %m: tensor map, %s: a tile, %b: a barrier, %out: the target."""
    kind = ".u64 map" if pointer else ".align 64 .b8 map[128]"
    address = "ld.param.u64 %m, [map];" if pointer else "mov.b64 %m, map; cvta.param.u64 %m, %m;"
    return f"""{HEADER}
.visible .entry k(.param {kind}, .param .u64 target)
{{
.reg .b64 %m, %out, %state; .reg .b32 %s, %b, %i, %v, %at; .reg .pred %p;
.shared .align 1024 .b8 tile[{SHARED}]; .shared .align 8 .b64 barrier;
{address} ld.param.u64 %out, [target];
mov.u32 %s, tile; mov.u32 %b, barrier;
{body}
ret;
}}
"""


def load_text(axes, at, size, form="shared::cluster.global.mbarrier::complete_tx::bytes"):
    """Loads a tile and stores its ``size`` bytes to the target."""
    at = ", ".join(map(str, at))
    return f"""mbarrier.init.shared.b64 [%b], 1;
mbarrier.arrive.expect_tx.shared.b64 %state, [%b], {size};
cp.async.bulk.tensor.{axes}d.{form} [%s], [%m, {{{at}}}], [%b];
W: mbarrier.try_wait.parity.shared.b64 %p, [%b], 0; @!%p bra W;
mov.u32 %i, 0; mov.u32 %at, %s;
L: ld.shared.b32 %v, [%at]; st.global.b32 [%out], %v;
add.u32 %at, %at, 4; add.u64 %out, %out, 4; add.u32 %i, %i, 4;
setp.lt.u32 %p, %i, {size}; @%p bra L;"""


def store_text(axes, at, size, form):
    """Reads a tile from the target and stores it to the tensor."""
    at = ", ".join(map(str, at))
    return f"""mov.u32 %i, 0; mov.u32 %at, %s;
L: ld.global.b32 %v, [%out]; st.shared.b32 [%at], %v;
add.u32 %at, %at, 4; add.u64 %out, %out, 4; add.u32 %i, %i, 4;
setp.lt.u32 %p, %i, {size}; @%p bra L;
fence.proxy.async.shared::cta;
{form.format(f"{axes}d")} [%m, {{{at}}}], [%s];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"""


def tile_of(array, first, box, steps=None):
    """Elements of a tile; those outside the array are zero. ``first`` is in NumPy's order."""
    out = np.zeros(box, array.dtype)
    for at in itertools.product(*map(range, box)):
        place = [f + k * s for f, k, s in zip(first, at, steps or [1] * len(box))]
        if all(0 <= p < n for p, n in zip(place, array.shape)):
            out[at] = array[tuple(place)]
    return out


def swizzled(content, width):
    """The bytes of a tile as they lie in shared memory, from an address that fits all modes."""
    if not width:
        return content
    out = np.zeros_like(content)
    for at in range(0, len(content), 16):
        to = at ^ (at >> 7 & (width // 16 - 1)) << 4
        out[to : to + 16] = content[at : at + 16]
    return out


def numbers(shape, dtype):
    return np.random.default_rng(5).integers(0, 100, shape).astype(dtype)


LOADS = [
    # shape, type, box, first coordinates, options
    ((64,), "u1", (32,), (8,), {}),
    ((64,), "f4", (16,), (-3,), {}),
    ((20, 16), "f4", (6, 8), (2, 4), {}),
    ((20, 16), "f2", (8, 16), (15, -5), {}),
    ((20, 64), "f2", (16, 64), (6, 3), {"swizzle": 128}),
    ((20, 64), "f2", (9, 32), (-2, 0), {"swizzle": 64}),
    ((20, 64), "f2", (16, 16), (0, 60), {"swizzle": 32}),
    ((7, 9, 8), "i4", (3, 4, 8), (5, 7, -1), {}),
    ((7, 9, 8), "i4", (3, 4, 4), (1, 0, 1), {"steps": (2, 3, 2)}),
    ((3, 4, 5, 4), "u8", (2, 3, 2, 4), (2, 2, 1, 0), {}),
    ((2, 3, 4, 5, 16), "u2", (2, 2, 2, 3, 8), (1, -1, 3, 3, 10), {}),
]


@pytest.mark.parametrize("shape, dtype, box, first, options", LOADS)
def test_loads(device, shape, dtype, box, first, options):
    array = numbers(shape, dtype)
    source = device.array(array)
    tile = tile_of(array, first, box, options.get("steps"))
    target = device.zeros(tile.nbytes, np.uint8)
    body = load_text(len(shape), first[::-1], tile.nbytes)
    device.load_ptx(kernel(body))["k"][1, 1](device.tensor_map(source, box, **options), target)
    want = swizzled(tile.reshape(-1).view(np.uint8), options.get("swizzle", 0))
    np.testing.assert_array_equal(target.numpy(), want)


@pytest.mark.parametrize(
    "form",
    [
        "shared::cta.global.tile.mbarrier::complete_tx::bytes",
        "shared::cluster.global.mbarrier::complete_tx::bytes.tile",
    ],
)
def test_a_map_in_global_memory_of_a_part_of_an_array(device, form):
    array = numbers((20, 64), "f4")
    source = device.array(array)
    made = device.tensor_map(source[2:], (4, 8), shape=(9, 32), strides=(512,))
    target = device.zeros(128, np.uint8)
    text = kernel(load_text(2, (28, 3), 128, form), pointer=True)
    device.load_ptx(text)["k"][1, 1](device.array(np.frombuffer(made, np.uint8)), target)
    want = tile_of(array[2::2, :32][:9], (3, 28), (4, 8))
    np.testing.assert_array_equal(target.numpy().view("f4").reshape(4, 8), want)


@pytest.mark.parametrize("mask, arrives", [(1, True), (3, True), (2, False)])
def test_a_load_for_the_ctas_that_a_mask_names(device, mask, arrives):
    """A cluster is one CTA, number 0: what is not for it changes nothing, and is not counted."""
    array = numbers((8, 8), "f4")
    form = "shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
    body = f".reg .b16 %mask; mov.u16 %mask, {mask}; mov.u32 %v, 7; st.shared.b32 [%s], %v;"
    text = body + load_text(2, (4, 4), 64, form).replace("[%b];", "[%b], %mask;", 1)
    if not arrives:
        text = text.replace("[%b], 64;", "[%b], 0;")
    got = _moved(device, array, text)
    if arrives:
        np.testing.assert_array_equal(got.view("f4").reshape(4, 4), array[4:, 4:])
    else:
        assert got.view("u4").tolist() == [7] + [0] * 15


def _moved(device, array, text):
    target = device.zeros(64, np.uint8)
    made = device.tensor_map(device.array(array), (4, 4))
    device.load_ptx(kernel(text))["k"][1, 1](made, target)
    return target.numpy()


STORES = [case for case in LOADS if case[1] != "u1"]


def assigned(array, first, tile, steps, combine=lambda old, new: new):
    out = array.copy()
    for at in itertools.product(*map(range, tile.shape)):
        place = [f + k * s for f, k, s in zip(first, at, steps or [1] * tile.ndim)]
        if all(0 <= p < n for p, n in zip(place, array.shape)):
            out[tuple(place)] = combine(array[tuple(place)], tile[at])
    return out


def run_store(device, array, tile, first, form, options):
    target = device.array(array)
    content = swizzled(tile.reshape(-1).view(np.uint8), options.get("swizzle", 0))
    text = kernel(store_text(tile.ndim, first[::-1], tile.nbytes, form))
    made = device.tensor_map(target, tile.shape, **options)
    device.load_ptx(text)["k"][1, 1](made, device.array(content))
    return target.numpy()


@pytest.mark.parametrize("shape, dtype, box, first, options", STORES)
def test_stores(device, shape, dtype, box, first, options):
    array, tile = numbers(shape, dtype), numbers(box, dtype)[::-1].copy()
    form = "cp.async.bulk.tensor.{}.global.shared::cta.bulk_group"
    got = run_store(device, array, tile, first, form, options)
    np.testing.assert_array_equal(got, assigned(array, first, tile, options.get("steps")))


REDUCTIONS = {
    "add": (np.add, "u4 i4 u8 f2 f4 f8"),
    "min": (np.minimum, "i4 i8 f2"),
    "max": (np.maximum, "u4 u8 f2"),
    "and": (np.bitwise_and, "u4"),
    "or": (np.bitwise_or, "i8"),
    "xor": (np.bitwise_xor, "u4"),
    "inc": (lambda old, x: 0 if old >= x else old + 1, "u4"),
    "dec": (lambda old, x: x if old == 0 or old > x else old - 1, "u4"),
}


@pytest.mark.parametrize("operation", REDUCTIONS)
def test_reductions(device, operation):
    combine, kinds = REDUCTIONS[operation]
    for dtype in kinds.split():
        array = numbers((12, 16), dtype)
        tile = numbers((8, 8), dtype)
        if dtype[0] in "if":
            array, tile = array - 50, tile - 40
        form = f"cp.reduce.async.bulk.tensor.{{}}.global.shared::cta.{operation}.tile.bulk_group"
        got = run_store(device, array, tile, (7, 11), form, {})
        np.testing.assert_array_equal(got, assigned(array, (7, 11), tile, None, combine))


def test_hints_change_nothing(device):
    body = """prefetch.tensormap [%m]; cp.async.bulk.prefetch.tensor.2d.L2.global [%m, {0, 0}];
fence.proxy.tensormap::generic.acquire.gpu [%m], 128; st.global.u32 [%out], 7;"""
    made = device.tensor_map(device.zeros((8, 8)), (4, 4))
    target = device.zeros(1, np.uint32)
    device.load_ptx(kernel(body))["k"][1, 1](made, target)
    assert target.numpy()[0] == 7


def test_what_is_no_fitting_map_ends_the_launch(device):
    flat = device.tensor_map(device.zeros(64), (16,))
    for made in (bytes(128), flat):
        with pytest.raises(lockstep.LockstepError, match="no fitting tensor map"):
            text = kernel(load_text(2, (0, 0), 64))
            device.load_ptx(text)["k"][1, 1](made, device.zeros(64))


def test_a_reduction_of_other_elements_ends_the_launch(device):
    form = "cp.reduce.async.bulk.tensor.{}.global.shared::cta.inc.bulk_group"
    with pytest.raises(lockstep.LockstepError, match="no fitting tensor map"):
        run_store(device, numbers(64, "f4"), numbers(16, "f4"), (0,), form, {})


def test_a_tile_that_leaves_shared_memory_ends_the_launch(device):
    made = device.tensor_map(device.zeros((256, 64)), (256, 64))
    with pytest.raises(lockstep.LockstepError, match="shared"):
        device.load_ptx(kernel(load_text(2, (0, 0), 64)))["k"][1, 1](made, device.zeros(64))


def test_memory_that_was_freed_ends_the_launch(device):
    array = device.zeros((8, 8))
    target = device.zeros(64)
    made = bytes(device.tensor_map(array, (4, 4)))
    del array
    with pytest.raises(lockstep.LockstepError, match="invalid global"):
        device.load_ptx(kernel(load_text(2, (0, 0), 64)))["k"][1, 1](made, target)


@pytest.mark.parametrize("at, message", [("{0}", "2 coordinates"), (None, "in brackets")])
def test_the_wrong_operands_are_refused(device, at, message):
    text = kernel(f"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%m, {at}], [%s];")
    if at is None:
        text = text.replace("[%m, None]", "[%m]")
    with pytest.raises(lockstep.InputError, match=message):
        device.load_ptx(text)

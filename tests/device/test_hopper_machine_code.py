"""Programs of the tensor memory accelerator and of warpgroups: ``cubins/hopper.cu``."""

import struct

import numpy as np
import pytest

import lockstep
from cubin_files import cubins
from lockstep.execution.programs.program import Recording
from lockstep.isa.instruction import OpClass
from lockstep.microbench import code

MODES = {
    "executed": {},
    "timed": {"timing": True},
    "at issue": {"timing": True, "at_issue": True},
    "checked": {"check": "all"},
}
STAGES = 2 * (128 + 64) * 64 * 2 + 1024  # bytes of ``Stages``


@pytest.fixture(scope="module", params=MODES)
def module(request):
    gpu = lockstep.gpu("H100", ["sm.count=2"])
    with lockstep.Device(gpu, limit_instructions=5_000_000, **MODES[request.param]) as device:
        yield device.load_cubin(cubins("hopper")["sm_90a"])
        assert not list(device.findings)


@pytest.fixture(scope="module")
def executed():
    with lockstep.Device("H100", timing=False) as device:
        yield device.load_cubin(cubins("hopper")["sm_90a"])


@pytest.mark.long
def test_a_product_by_specialised_warps(module):
    device, rng = module.device, np.random.default_rng(0)
    m, n, k = 256, 128, 192
    a, b = (rng.integers(-8, 9, shape).astype(np.float16) for shape in ((m, k), (n, k)))
    maps = [
        device.tensor_map(device.array(factor), box, swizzle=128)
        for factor, box in ((a, (128, 64)), (b, (64, 64)))
    ]
    out = device.zeros((m, n), "f4")
    module["product"][(n // 64, m // 128), 384, STAGES](*maps, out, n, k)
    np.testing.assert_array_equal(out.numpy(), a.astype("f4") @ b.astype("f4").T)


def test_bulk_copies_there_and_back(module):
    source, out = np.arange(256, dtype="i4") * 3, module.device.zeros(256, "i4")
    module["there_and_back"][1, 256](module.device.array(source), out)
    np.testing.assert_array_equal(out.numpy(), source + np.arange(256))


def test_each_lane_copies_its_own_bytes(module):
    source = np.arange(32 * 128, dtype="i4").reshape(32, 128)
    out = module.device.zeros(source.shape, "i4")
    module["each_lane"][1, 32](module.device.array(source), out)
    copied = np.arange(128) < 4 * (np.arange(32)[:, None] + 1)
    np.testing.assert_array_equal(out.numpy(), np.where(copied, source, -1))


def test_a_recorded_run_takes_the_cycles_of_the_run(tmp_path):
    """Every tile's bytes are read once, those of a bulk copy likewise."""
    gpu = lockstep.gpu("H100", ["sm.count=2"])
    with lockstep.Device(gpu, timing=True) as device:
        module = device.load_cubin(cubins("hopper")["sm_90a"])
        with device.record(tmp_path / "run.lst"):
            factors = [device.zeros((lines, 192), "f2") for lines in (256, 128)]
            maps = [device.tensor_map(f, (64, 64), swizzle=128) for f in factors]
            maps[0] = device.tensor_map(factors[0], (128, 64), swizzle=128)
            module["product"][(2, 2), 384, STAGES](*maps, device.zeros((256, 128), "f4"), 128, 192)
            module["there_and_back"][1, 256](device.zeros(256, "i4"), device.zeros(256, "i4"))
        result = device.result
    tiles, words = 4 * 3 * (128 + 64) * 128, 256 * 4
    assert result.total["sim__bulk_load_sectors.sum"] == (tiles + words) // 32
    assert result.total["sim__bulk_store_sectors.sum"] == words // 32
    trace = lockstep.load(tmp_path / "run.lst")
    again = lockstep.simulate(trace, gpu)
    assert again.cycles == result.cycles
    assert again.total["sim__bulk_load_sectors.sum"] == (tiles + words) // 32
    lockstep.save(trace, tmp_path / "folder")
    bare = lockstep.simulate(lockstep.load(tmp_path / "folder"), gpu)
    assert bare.total["sim__bulk_load_sectors.sum"] == (tiles + words) // 32


def test_classes_are_those_of_ptx(executed):
    """What is timed: products by their types, tiles and waits for objects as PTX has them."""
    kinds = {}
    for name in ("product", "there_and_back", "add_f32"):
        program = executed[name].executor(Recording(0)).program
        texts = np.array(program.texts)[program.code["text"]]
        kinds |= dict(zip(texts.tolist(), map(OpClass, program.code["op"].tolist())))
    expected = {
        "HGMMA.64x64x16.F32": OpClass.GMMA, "UTMALDG.2D": OpClass.TILE_COPY,
        "UBLKCP.S.G": OpClass.TILE_COPY, "UBLKCP.G.S": OpClass.TILE_STORE,
        "UBLKRED.G.S.ADD.F32.RN": OpClass.TILE_STORE, "UTMACMDFLUSH": OpClass.COMMIT_GROUP,
        "SYNCS.PHASECHK.TRANS64.TRYWAIT": OpClass.OBJECT_WAIT, "DEPBAR.LE": OpClass.WAIT_GROUP,
    }  # fmt: skip
    assert expected.items() <= kinds.items()


REDUCTIONS = {
    "add_f32": ("f4", np.add), "add_f64": ("f8", np.add), "add_f16": ("f2", np.add),
    "min_s64": ("i8", np.minimum), "max_u32": ("u4", np.maximum),
    "xor_b32": ("u4", np.bitwise_xor), "or_b64": ("u8", np.bitwise_or),
    "inc_u32": ("u4", lambda old, x: np.where(old >= x, 0, old + 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
def test_bulk_reductions(executed, name):
    kind, combine = REDUCTIONS[name]
    rng, low = np.random.default_rng(1), -4 if kind[0] in "if" else 0
    old, new = rng.integers(low, 9, (2, 512 // np.dtype(kind).itemsize)).astype(kind)
    out = executed.device.array(old)
    executed[name][1, 32](executed.device.array(new), out)
    np.testing.assert_array_equal(out.numpy(), combine(old, new))


@pytest.mark.parametrize("iterations", [(2, 2, 5), (8, 2, 22)])
def test_a_loop_in_a_loop_that_polls_keeps_its_lanes_waited_for(iterations):
    """One thread copies in a loop, the others wait for it; then all poll until it has landed.

    The kernel reads clocks, for which nobody who polls in vain is waited for long.
    """
    with lockstep.Device("H100_SXM", limit_instructions=100_000) as device:
        kernel = device.load_cubin(code.cubin(90, "bulk"))["bulk"]
        content = np.arange(1 << 18, dtype="u1")
        clocks, sink = device.zeros(64, "u8"), device.zeros(32, "u4")
        segments = struct.pack("3i", *iterations)
        kernel[1, 32, 1 << 14](clocks, sink, device.array(content), 16, 16, 1 << 18, segments)
        last = 256 * (sum(iterations) - 1)  # bytes before the last 16 copies
        np.testing.assert_array_equal(sink.numpy(), content[last : last + 32].view("i1"))
        ends = clocks.numpy()[:6]
    assert (np.diff(ends.astype("i8")) > 0).all()

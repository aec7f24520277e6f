"""Kernels whose addresses are affine come back address for address."""

from pathlib import Path

import numpy as np
import pytest

from lockstep import api, kernels
from lockstep.builder import KernelBuilder, program
from lockstep.device import Device
from lockstep.frontend.proxy import Proxy
from lockstep.proxies import profile
from lockstep.proxies.affine import collect
from lockstep.workload import MemoryCopy
from proxies.twins import accesses, assert_same_accesses

BASE = 1 << 40
GCN = Path(__file__).parents[3] / "examples" / "southern-islands" / "kernels"


def stencil(grid=(3, 4, 2), block=(32, 4, 2)):
    """Three axes; border CTAs clamp, and the last row has a partial mask."""
    k = KernelBuilder("stencil", grid, block, registers=20)
    pitch, plane = 4096, 1 << 20

    def cell(at):
        thread = at.thread
        x = at.block[0] * block[0] + thread % block[0]
        y = at.block[1] * block[1] + thread // block[0] % block[1]
        z = at.block[2] * block[2] + thread // (block[0] * block[1])
        return x, y, z

    def load(at):
        x, y, z = cell(at)
        return BASE + 4 * np.maximum(x - 1, 0) + pitch * y + plane * z

    k("LDG.E R0, [R2]", address=load, mask=lambda at: cell(at)[0] < 90)
    with k.loop(9):
        k("LDG.E.64 R4, [R2]", address=lambda at: load(at) * 2 - BASE + 8 * at.i)
        with k.loop(3):
            k("LDS R6, [R7]", address=lambda at: at.thread * 4 % 128 + 256 * at.i)
        k("BAR.SYNC 0x0")
    k("STG.E [R2], R0", address=lambda at: load(at) + (1 << 30), mask=0x0F0F0F0F)
    return k


def tiles():
    """Rows of half a warp, whose offsets are listed."""
    k = KernelBuilder("tiles", (5, 3), (16, 16))
    k("LDG.E R0, [R2]", address=k.tile(BASE, 4096, 16, 4, (64, 16 * 4096)))
    k("RED.E.ADD [R2], R0", address=k.broadcast(BASE - 4096))
    return k


def varying():
    """Trip counts that differ by warp and by CTA."""
    k = KernelBuilder("varying", 20, 96)
    with k.loop(lambda at: 1 + at.warp + at.cta % 3):
        k("LDG.E R0, [R2]", address=k.coalesced(BASE, 4, 1 << 20))
    return k


def split(levels=(7,)):
    """One axis of CTAs that the kernel splits into rows and columns by / and %."""
    k = KernelBuilder("split", 150, 64)

    def load(at):
        left, place, scale = at.cta, BASE, 256
        for level in levels:
            place, left, scale = place + left % level * scale, left // level, scale * 100
        return place + left * scale + 4 * at.thread

    with k.loop(3):
        k("LDG.E R0, [R2]", address=lambda at: load(at) + 128 * at.i)
    k("STG.E [R2], R0", address=k.coalesced(BASE + (1 << 36)))
    return k


def split_twice():
    """Into planes, too."""
    return split((5, 6))


def mostly_alone():
    """A single lane, or a few that are not neighbours."""
    k = KernelBuilder("alone", 6, 64)
    k("LDG.E.U8 R0, [R2]", address=k.coalesced(BASE, 1), mask=lambda at: at.lane == at.cta)
    k("LDG.E.U8 R0, [R2]", address=k.coalesced(BASE, 1), mask=lambda at: at.lane % 7 == at.cta)
    return k


BUILDERS = {
    "split": split,
    "split twice": split_twice,
    "stencil": stencil,
    "tiles": tiles,
    "varying": varying,
    "mostly alone": mostly_alone,
}


@pytest.mark.long
@pytest.mark.parametrize("name", BUILDERS)
def test_accesses_come_back(name, tmp_path):
    original = program(MemoryCopy(BASE, 4096), BUILDERS[name](), BUILDERS[name](), name=name)
    proxy = profile(original)
    assert len(proxy.models) == 1 and len(proxy.launches) == 2
    proxy.save(tmp_path / "x.proxy")
    made = api.load(tmp_path / "x.proxy")
    assert made.commands[0] == MemoryCopy(BASE, 4096)
    assert_same_accesses(original, made)


@pytest.mark.long
def test_a_model_does_not_grow_with_the_grid():
    small, large = (profile(program(stencil((n, n, 4)))).numbers for n in (5, 20))
    assert large < 3 * small


@pytest.mark.parametrize("levels", [(7,), (5, 6), (3, 4, 5)])
def test_an_index_that_is_split_is_one_kind(levels):
    (model,) = profile(program(split(levels))).models
    assert len(model.tables.placement_shape) == 1
    assert len(model.tables.split_jump) == len(levels)


def test_barriers_stay():
    made = profile(program(stencil((1, 1, 1)))).workload().kernels[0]
    texts = [made.code.texts[i] for i in made.code.instructions["text"]]
    assert texts.count("BAR.SYNC") == 1
    cta = next(made.ctas())
    barrier = texts.index("BAR.SYNC")
    first = cta.runs[: cta.warps["runs"][0]]
    covers = (first["static"] <= barrier) & (barrier < first["static"] + first["count"])
    assert covers.sum() == 9


@pytest.mark.parametrize("warp_size", [32, 64])
def test_the_size_of_warps_stays(warp_size):
    k = KernelBuilder("wide", 4, 128, warp_size=warp_size)
    k("LDG.E R0, [R2]", address=k.coalesced(BASE))
    original = program(k)
    assert_same_accesses(original, profile(original).workload())


def test_the_code_of_wavefronts_lies_as_close_as_it_did(tmp_path):
    """GCN's instructions have four bytes, or eight: if they had more, each fetch brought fewer."""
    path = tmp_path / "add.lst"
    with Device("HD7770") as device, device.record(path):
        add = device.load_gcn(GCN / "vector_add.bin")["vector_add"]
        add[1024, 64](*(device.zeros(1024) for _ in range(3)), 1000)
    original = api.load(path)
    made = profile(original).workload()
    theirs, ours = (w.kernels[0].code.instructions["pc"] for w in (original, made))
    assert (np.diff(theirs) == np.diff(ours)).all() and set(np.diff(ours)) == {4, 8}
    cycles = [api.simulate(workload, "HD7770").cycles for workload in (original, made)]
    assert cycles[1] == pytest.approx(cycles[0], rel=0.02)


@pytest.mark.long
def test_a_smaller_workload_keeps_part_of_the_ctas():
    original = program(saxpy_like(1000))
    whole, part = (profile(original).workload(scale).kernels[0] for scale in (1, "1/8"))
    assert (whole.n_ctas, part.grid) == (1000, (125, 1, 1))
    first = [cta.addresses["first"].tolist() for cta in whole.ctas()]
    assert [cta.addresses["first"].tolist() for cta in part.ctas()] == first[437:562]


@pytest.mark.long
def test_smaller_launches_take_turns_at_what_no_l2_holds():
    """Turns begin in the middle, and go around."""
    proxy = profile(program(*(saxpy_like(500) for _ in range(7))))
    needed = sum(a.bytes for a in proxy.allocations)
    for l2, turns in ((needed, [0] * 7), (needed - 1, range(7))):
        made = proxy.workload("1/5", l2_bytes=l2).kernels
        for small, turn in zip(made, turns, strict=True):
            first = [int(cta.addresses["first"][0]) - BASE for cta in small.ctas()]
            assert first == [256 * ((200 + 100 * turn + k) % 500) for k in range(100)]


def saxpy_like(ctas):
    """A load and a store by each thread."""
    k = KernelBuilder("saxpy", ctas, 64)
    k("LDG.E R0, [R2]", address=k.coalesced(BASE))
    k("STG.E [R2], R0", address=k.coalesced(BASE + (1 << 30)))
    return k


REGULAR = (
    "atax", "blackscholes", "conv2d", "conv3d", "fft", "gemm_tiled", "hotspot", "kmeans", "mm2",
    "mvt", "nbody", "saxpy", "stencil2d", "syrk", "transpose_naive",
)  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("name", REGULAR)
def test_built_in_programs_come_back(name, tmp_path):
    builtin = kernels.load(name)
    with Device("QV100") as device, device.record(tmp_path / "x.lst"):
        builtin.run(device, builtin.small)
    original = api.load(tmp_path / "x.lst")
    proxy = profile(original)
    proxy.save(tmp_path / "x.proxy")
    assert_same_accesses(original, Proxy.load(tmp_path / "x.proxy").workload())


@pytest.mark.long
def test_a_long_launch_is_known_by_some_of_its_ctas(monkeypatch):
    original = program(stencil((12, 12, 4)))
    monkeypatch.setattr(collect, "MOST_BYTES", 1_000_000)
    part = profile(original)
    kernel, made = original.kernels[0], part.workload().kernels[0]
    same = [
        accesses(kernel, cta) == accesses(made, other)
        for cta, other in zip(kernel.ctas(), made.ctas(), strict=True)
    ]
    assert 0.8 < np.mean(same) < 1


@pytest.mark.long
def test_of_a_long_launch_few_ctas_are_kept(monkeypatch):
    monkeypatch.setattr(collect, "MOST_BYTES", 50_000)
    kernel = saxpy_like(5000).kernel()
    streams = collect.LaunchStreams(kernel)
    for cta in kernel.ctas():
        streams.add(cta)
    (shape,) = streams.shapes.values()
    assert sum(a.nbytes for a in shape.addresses) < 60_000
    assert sorted(shape.ctas + shape.others) == list(range(5000))
    assert 1 in np.diff(shape.ctas)

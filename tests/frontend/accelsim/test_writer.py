"""Written traces read back the same."""

import random

import numpy as np
import pytest

from lockstep.builder import KernelBuilder, program
from lockstep.errors import WorkloadError
from lockstep.frontend.accelsim import load, write
from lockstep.workload import MemoryCopy


def same(first, second):
    """Both kernels have the same streams, code and launch."""
    for name in ("name", "id", "grid", "block", "registers", "shared_bytes", "stream"):
        assert getattr(first, name) == getattr(second, name)
    assert (first.shared_base, first.local_base) == (second.shared_base, second.local_base)
    for a, b in zip(first.ctas(), second.ctas(), strict=True):
        assert a.index == b.index
        for name in ("warps", "runs", "addresses", "pool"):
            assert np.array_equal(getattr(a, name), getattr(b, name))
    assert np.array_equal(first.code.instructions, second.code.instructions)
    assert first.code.texts == second.code.texts


def round_trip(path, target):
    original = load(path)
    write(original, target)
    copy = load(target)
    assert [type(c) for c in copy.commands] == [type(c) for c in original.commands]
    for first, second in zip(original.commands, copy.commands):
        if isinstance(first, MemoryCopy):
            assert first == second
        else:
            same(first, second)
    return copy


@pytest.mark.parametrize(
    "name",
    ["bfs-sm80", "vectoradd-sm80", "matmul-sm61", "ffma-sm90-4096x16", "vecadd-f64-sm61-raw"],
)
def test_real_traces(real_traces, tmp_path, name):
    round_trip(real_traces / name, tmp_path / "copy")


def random_line(rng, pc):
    mask = rng.choice([0, 1, 0xF0, 0xFFFFFFFF, rng.getrandbits(32)])
    lanes = mask.bit_count()
    if rng.random() < 0.5:
        return f"{pc:04x} {mask:08x} 1 R{pc % 200} FFMA 3 R1 R255 R3 0 {rng.choice([0, -5])}"
    base = rng.getrandbits(rng.choice([20, 48, 64]))
    kind = rng.random()
    if kind < 0.5:
        values = "".join(f" {rng.getrandbits(64):#x}" for _ in range(lanes))
        return f"{pc:04x} {mask:08x} 0 STG.E.64 2 R2 R4 8 0{values} 0"
    steps = [rng.choice([4, 8])] * (lanes - 1) if kind < 0.8 else range(lanes - 1)
    values = "".join(f" {d}" for d in steps)
    return f"{pc:04x} {mask:08x} 1 R6 LDG.E 1 R2 4 2 {base:#x}{values} 0"


@pytest.mark.parametrize("seed", range(4))
def test_random_traces(build, tmp_path, seed):
    rng = random.Random(seed)
    grid = {"grid": (2, 3, 1), "block": (96, 1, 1)}
    places = [(x, y, 0) for x in range(2) for y in range(3)]
    blocks = {
        p: [[random_line(rng, 16 * (k % 40)) for k in range(rng.randrange(90))] for _ in range(3)]
        for p in places
    }
    (tmp_path / "kernel-1.traceg").write_text(build.header(**grid) + build.body(blocks))
    round_trip(tmp_path / "kernel-1.traceg", tmp_path / "copy")


def test_copies_and_streams(build, tmp_path):
    body = build.body({(0, 0, 0): [["0010 ffffffff 0 EXIT 0 0 0"]]})
    for number in (1, 2):
        text = build.header(kernel_id=number, cuda_stream_id=2**63 + number) + body
        (tmp_path / f"kernel-{number}.traceg").write_text(text)
    listed = "MemcpyHtoD,0xffff000000000010,64\nkernel-2.traceg\nkernel-1.traceg\n"
    (tmp_path / "kernelslist.g").write_text(listed)
    copy = round_trip(tmp_path, tmp_path / "copy")
    assert [k.id for k in copy.kernels] == [2, 1]
    assert copy.commands[0].address == 0xFFFF000000000010 - 2**64


def test_predicates_and_uniform_registers_need_version_6(build, tmp_path):
    plain = "0010 ffffffff 1 R2 MOV 1 R3 0 7 0 NoVal"
    uniform = "0020 ffffffff 2 R2 P1 IADD3 3 R2 UR5 P0 0 0 0 NoVal"
    gmma = "0030 ffffffff 1 R24 HGMMA.64x128x16.F32 2 R24 UR4 1 0 0 0 NoVal"
    bulk = "0040 00000001 0 UTMALDG.2D 2 UR8 UR4 16 0x10 0 8192 0 3 2 0x7f00 0x8f00 0 0 NoVal"
    for name, lines in (("5", [plain]), ("6", [plain, uniform, gmma, bulk])):
        source = tmp_path / f"kernel-{name}.traceg"
        source.write_text(build.header("6") + build.body({(0, 0, 0): [lines]}))
        round_trip(source, tmp_path / name)
        text = (tmp_path / name / "kernel-1.traceg").read_text()
        assert f"-accelsim tracer version = {name}" in text


def test_version_5_can_be_demanded_and_leaves_out_what_it_lacks(build, tmp_path):
    lines = [
        "0010 ffffffff 2 R2 P1 IADD3 3 R2 UR5 P0 0 0 0 NoVal",
        "0020 0000ffff 1 R4 LDG.E.64 3 R2 UR4 P2 8 1 0x100 8 0 0 NoVal",
    ]
    source = tmp_path / "kernel-1.traceg"
    source.write_text(build.header("6") + build.body({(0, 0, 0): [lines]}))
    write(load(source), tmp_path / "old", tracer=5)
    text = (tmp_path / "old" / "kernel-1.traceg").read_text()
    assert "-accelsim tracer version = 5\n" in text
    assert "\n0010 ffffffff 1 R2 IADD3 1 R2 0 0 \n" in text
    assert "\n0020 0000ffff 1 R4 LDG.E.64 1 R2 8 1 0x100 8 0 \n" in text
    assert "UR" not in text and " P" not in text.partition("#BEGIN_TB")[2]


def test_zero_registers_keep_their_places(build, tmp_path):
    lines = [
        "0010 ffffffff 1 R4 IMAD.WIDE 3 R255 R7 R8 0 0",
        "0020 ffffffff 1 R4 IMAD.WIDE 3 R7 R8 R255 0 0",
        "0030 ffffffff 0 STG.E.64 2 R2 R255 8 1 0x10 8 0",
        "0040 ffffffff 1 R255 ATOMG.E.ADD 2 R2 R4 4 1 0x10 4 0",
        "0050 ffffffff 1 R255 LDG.E 1 R2 4 1 0x10 4 0",
    ]
    source = tmp_path / "kernel-1.traceg"
    source.write_text(build.header() + build.body({(0, 0, 0): [lines]}))
    round_trip(source, tmp_path / "copy")


def test_what_has_no_form_is_refused_and_leaves_nothing(build, tmp_path):
    source = tmp_path / "kernel-1.traceg"
    source.write_text(
        build.header() + build.body({(0, 0, 0): [["0010 ffffffff 1 R4 MOV 1 R5 0 0"]]})
    )
    workload = load(source)
    (kernel,) = workload.kernels
    list(kernel.ctas())
    kernel.code.instructions["source_count"][0, 0] = 3  # no MOV reads three registers
    with pytest.raises(WorkloadError, match=r"pc 0x10 \(MOV\) has no form"):
        write(workload, tmp_path / "copy")
    assert not list((tmp_path / "copy").iterdir())


def test_warps_of_64_threads_have_no_form(tmp_path):
    k = KernelBuilder("wide", 1, 64, warp_size=64)
    with pytest.raises(WorkloadError) as error:
        write(program(KernelBuilder("narrow", 1, 64), k), tmp_path / "trace")
    assert str(error.value) == (
        "kernel 2 (wide): warps of 64 threads; those of an Accel-Sim trace have 32"
    )
    assert not (tmp_path / "trace").exists()


def test_the_shortest_address_mode_is_written(build, tmp_path):
    lines = [
        "0010 0000000f 1 R0 LDG.E 1 R2 4 0 0x10 0x14 0x18 0x1c 0",
        "0010 00000105 1 R0 LDG.E 1 R2 4 0 0x10 0x14 0x18 0",
        "0010 0000000f 1 R0 LDG.E 1 R2 4 0 0x10 0x14 0x18 0x1d 0",
        "0010 00000007 1 R0 LDG.E 1 R2 4 0 0x1 0x7f0000000000 0x1 0",
    ]
    source = tmp_path / "kernel-1.traceg"
    source.write_text(build.header() + build.body({(0, 0, 0): [lines]}))
    write(load(source), tmp_path / "copy")
    text = (tmp_path / "copy" / "kernel-1.traceg").read_text()
    written = [line.split(" 4 ", 1)[1] for line in text.split("\n") if "LDG" in line]
    assert written == [
        "1 0x10 4 0 ",
        "2 0x10 4 4 0 ",
        "2 0x10 4 4 5 0 ",
        "0 0x1 0x7f0000000000 0x1 0 ",
    ]

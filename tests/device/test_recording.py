import os

import numpy as np
import pytest

import lockstep
from lockstep.device import Treatment
from lockstep.device.arguments import pack
from lockstep.errors import LockstepError
from lockstep.execution.streams import journal
from lockstep.gpus import library
from lockstep.kernels import load, names

FILES = ("run.lst", "accel-sim")
# Built-in kernels executed at issue: those whose path depends on time, and some others.
WAITING = ("spin_lock", "grid_barrier", "hash_table", "reduce_lastblock", "kmeans")
SOME = (*WAITING, "bfs", "gemm_wmma", "string_search", "texture")
LIVE = names() if "LOCKSTEP_ALL_PROGRAMS" in os.environ else SOME
# Cycles that a trace takes less than the run, where it is not exact: Accel-Sim's format has no
# place for all registers of a matrix instruction of PTX, nor of a texture fetch.
FEWER = {("gemm_wmma", "accel-sim"): 12, ("texture", "accel-sim"): 1}


@pytest.fixture
def gpus(small_gpu):
    """By file: the GPU. Accel-Sim's format does not say where constant operands are."""
    return {
        "run.lst": small_gpu,
        "accel-sim": library.replace(small_gpu, **{"constant.operand_bytes": 0}),
    }


def record(gpu, path, program, **options):
    """Run a program on a device that records; its result."""
    with lockstep.Device(gpu, timing=True, **options) as device:
        with device.record(path):
            program(device)
        return device.result


def same_streams(one, other):
    """Whether two kernels execute the same instructions with the same lanes and addresses."""
    return [list(steps(one, cta)) for cta in one.ctas()] == [
        list(steps(other, cta)) for cta in other.ctas()
    ]


def steps(kernel, cta):
    code = kernel.code.instructions
    for warp in cta.warps:
        used = iter(cta.addresses[warp["first_address"] :].tolist())
        for static, count, mask in cta.runs[warp["first_run"] :][: warp["runs"]].tolist():
            for row in code[static : static + count]:
                addressed = bool(row["width"] and mask)
                yield int(row["pc"]), mask, lanes(next(used), mask, cta) if addressed else ()


def lanes(entry, mask, cta):
    first, stride, pool = entry
    count = mask.bit_count()
    if pool >= 0:
        return tuple(cta.pool[pool : pool + count].tolist())
    return tuple(first + k * stride for k in range(count))


@pytest.mark.long
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(
    "name",
    ["vecadd", "gemm_tiled", "bitonic_sort", "reduce_shared", "pointer_chase", "mm3", "half_dot"],
)
def test_a_recorded_trace_takes_the_same_cycles(gpus, tmp_path, name, file):
    kernel, path, gpu = load(name), tmp_path / file, gpus[file]
    threads = 1 if file == FILES[0] else 2  # of the run; its trace has the other number
    live = record(gpu, path, lambda d: kernel.run(d, kernel.small), threads=threads)
    again = lockstep.simulate(path, gpu, threads=3 - threads)
    assert again.cycles == live.cycles
    assert again.hash == live.hash


@pytest.mark.long
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("name", LIVE)
def test_a_run_at_issue_takes_the_same_cycles(gpus, tmp_path, name, file):
    kernel, path, gpu = load(name), tmp_path / file, gpus[file]
    live = record(gpu, path, lambda d: kernel.run(d, kernel.small), at_issue=True)
    again = lockstep.simulate(path, gpu, threads=2)
    assert live.cycles - again.cycles == FEWER.get((name, file), 0)
    assert (live.hash == again.hash) == ((name, file) not in FEWER)


@pytest.mark.long
@pytest.mark.parametrize("room", [1, 100])
@pytest.mark.parametrize("name", ["bitonic_sort", "histogram_global", "spmv"])
def test_at_issue_or_before_the_streams_are_the_same(small_gpu, tmp_path, monkeypatch, name, room):
    """Of programs whose path does not depend on time; also with a journal that is full at once."""
    for size in ("RUNS", "ADDRESSES", "WORDS"):
        monkeypatch.setattr(journal, size, max(getattr(journal, size) * room // 100, 1 << 7))
    kernel, paths = load(name), (tmp_path / "before.lst", tmp_path / "live.lst")
    for path in paths:
        options = {"at_issue": path.name == "live.lst"}
        record(small_gpu, path, lambda d: kernel.run(d, kernel.small), **options)
    before, live = map(lockstep.load, paths)
    for one, other in zip(before.kernels, live.kernels, strict=True):
        assert same_streams(one, other)
        for mine, theirs in zip(one.ctas(), other.ctas(), strict=True):
            assert mine.index == theirs.index
            np.testing.assert_array_equal(mine.warps, theirs.warps)
            np.testing.assert_array_equal(mine.runs, theirs.runs)


def test_of_a_device_at_issue_launches_that_are_not_timed_are_in_the_trace(
    small_gpu, ptx, tmp_path
):
    with lockstep.Device(small_gpu, timing=True, at_issue=True) as device:
        x, y = device.array(np.ones(256, "f4")), device.zeros(256)
        kernel = device.load_ptx(ptx)["axpy"]
        arguments = pack("axpy", kernel.parameters, (256, 1.0, x, y))
        shape = kernel.geometry(((2, 1, 1), (128, 1, 1), 0))
        with device.record(tmp_path / "run.lst"):
            device.launch(kernel, shape, arguments, device.default_stream, (), Treatment.EXECUTE)
            kernel[2, 128](256, 1.0, x, y)
        assert y.numpy()[0] == 2
        assert len(device.launches) == 1
    first, second = lockstep.load(tmp_path / "run.lst").kernels
    assert same_streams(first, second)


def streams(device, ptx):
    """Launches and copies in three streams, and waits of the host."""
    module = device.load_ptx(ptx)
    x = device.array(np.ones(4096, "f4"))
    outs = [device.zeros(4096) for _ in range(3)]
    a, b = device.stream(), device.stream()
    for stream, out in zip((a, b, None), outs):
        module["axpy"][32, 128, 0, stream](4096, 2.0, x, out)
    outs[0].numpy()
    module["axpy"][16, 128, 0, a](2048, 2.0, x, outs[1])
    outs[0].numpy()
    module["axpy"][16, 128, 0, b](2048, 2.0, x, outs[1])
    device.array(np.zeros(64))
    module["mixed"][4, 128, 0, b](x, outs[2])
    return outs


def test_streams_copies_and_waits_are_in_the_trace(small_gpu, ptx, tmp_path):
    path = tmp_path / "streams.lst"
    live = record(small_gpu, path, lambda device: streams(device, ptx))
    assert lockstep.simulate(path, small_gpu).hash == live.hash


def test_a_directory_is_for_accel_sim(small_gpu, ptx, tmp_path):
    for path in (tmp_path / "run.lst", tmp_path / "run"):
        record(small_gpu, path, lambda device: streams(device, ptx))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run", "run.lst"]
    ours, theirs = (lockstep.load(tmp_path / name) for name in ("run.lst", "run"))
    assert len(ours.commands) == len(theirs.commands) and len(theirs.kernels) == 6
    for one, other in zip(ours.kernels, theirs.kernels):
        assert same_streams(one, other)
        records = {row["pc"]: row for row in one.code.instructions}
        for row in other.code.instructions:
            mine = records[row["pc"]]
            different = [f for f in row.dtype.names if not np.array_equal(row[f], mine[f])]
            assert not set(different) - {"text", "constant"}
            assert row["constant"] == -1
        assert (one.code.instructions["constant"] >= 0).any()
    assert not lockstep.simulate(theirs, small_gpu).unknown_opcodes


def test_a_functional_device_records_too(small_gpu, ptx, tmp_path):
    found = []
    for timing in (False, True):
        path = tmp_path / f"{timing}.lst"
        with lockstep.Device(small_gpu, timing=timing) as device:
            recorder = device.record(path)
            outs = streams(device, ptx)
            recorder.stop()
            found.append([out.numpy().tolist() for out in outs])
    assert found[0] == found[1]
    one, other = (lockstep.load(tmp_path / f"{timing}.lst") for timing in (False, True))
    assert all(same_streams(a, b) for a, b in zip(one.kernels, other.kernels, strict=True))


def test_a_trace_knows_the_gpu_that_it_was_recorded_on(ptx, tmp_path):
    with lockstep.Device("H100") as device:
        with device.record(tmp_path / "run.lst"):
            streams(device, ptx)
        workload = lockstep.load(tmp_path / "run.lst")
        assert workload.gpu == "H100" == lockstep.gpu_for(workload).name
        lockstep.save(workload, tmp_path / "again.lst")
        assert lockstep.load(tmp_path / "again.lst").gpu == "H100"
        workload.gpu = "of a file that is gone"
        assert lockstep.gpu_for(workload).name != "H100"


def test_a_part_of_a_program(timed, ptx, tmp_path):
    module = timed.load_ptx(ptx)
    x, y = timed.array(np.ones(256, "f4")), timed.zeros(256)
    launch = module["axpy"][2, 128]
    launch(256, 1.0, x, y)
    with timed.record(tmp_path / "part.lst"):
        launch(256, 1.0, x, y)
        launch(256, 1.0, x, y)
    launch(256, 1.0, x, y)
    assert y.numpy()[0] == 4
    kernels = lockstep.load(tmp_path / "part.lst").kernels
    assert [k.id for k in kernels] == [2, 3]


@pytest.mark.parametrize("options", [{}, {"timing": True}, {"timing": True, "at_issue": True}])
def test_a_failing_launch_is_left_out(small_gpu, ptx, tmp_path, options):
    with lockstep.Device(small_gpu, **options) as device:
        module = device.load_ptx(ptx)
        array = device.zeros(32)
        with device.record(tmp_path / "run.lst"):
            with pytest.raises(LockstepError):
                module["wild"][1, 32](4).wait()
            module["axpy"][1, 32](32, 1.0, array, array)
    assert [k.name for k in lockstep.load(tmp_path / "run.lst").kernels] == ["axpy"]


def test_an_error_in_the_context_leaves_no_file(device, tmp_path):
    path = tmp_path / "run.lst"
    with pytest.raises(ZeroDivisionError), device.record(path):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    with device.record(path):
        pass  # and another may begin
    assert lockstep.load(path).commands == []


def test_misuse_of_recorders(device, tmp_path):
    recorder = device.record(tmp_path / "run.lst")
    with pytest.raises(LockstepError, match=r"already recording .*run\.lst"):
        device.record(tmp_path / "other.lst")
    recorder.stop()
    with pytest.raises(LockstepError, match="has ended"):
        recorder.stop()
    with pytest.raises(LockstepError, match="cannot write"):
        device.record("/proc/nowhere/x.lst")
    assert device.recorder is None


def test_machine_code_names_its_architecture_and_tracer_5_leaves_predicates_out(
    repository, tmp_path
):
    cubin = repository / "tests/device/cubins/recorded.sm_80.cubin"
    for name, tracer in (("own.lst", 6), ("new", 6), ("old", 5)):
        with lockstep.Device("QV100") as device:
            arrays = [device.array(np.ones(100, "f4")) for _ in range(3)]
            with device.record(tmp_path / name, tracer):
                device.load_cubin(cubin)["add"][1, 128](*arrays, 100)
    kernels = {n: lockstep.load(tmp_path / n).kernels[0] for n in ("own.lst", "new", "old")}
    assert {kernel.architecture for kernel in kernels.values()} == {80}
    assert same_streams(kernels["own.lst"], kernels["new"])
    assert same_streams(kernels["own.lst"], kernels["old"])
    destinations = {n: int(k.code.instructions["destinations"].sum()) for n, k in kernels.items()}
    assert destinations["own.lst"] == destinations["new"] == destinations["old"] + 2  # P0, UR4
    stalls = kernels["own.lst"].code.instructions["stall"]
    assert stalls[:4].tolist() == [2, 4, 2, 5], "the format has the control bits"

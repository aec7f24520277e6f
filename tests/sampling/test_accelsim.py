"""Kernel lists for Accel-Sim: which files, in which order, with which weights; what is refused."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lockstep
from lockstep import api
from lockstep.builder import program
from lockstep.errors import InputError, LockstepError
from lockstep.sampling import LaunchTable, Plan, Profiler
from lockstep.sampling.accelsim import ListRecorder, write_kernels

COPY = "MemcpyHtoD,0x00007f0000000000,4096\n"


def _trace(directory, names, content="trace of "):
    directory.mkdir()
    for name in set(names) - {""}:
        (directory / name).write_text(content + name)
    lines = [name + "\n" if name else COPY for name in names]
    (directory / "kernelslist.g").write_text("".join(lines))
    return directory


def _plan(strata, chosen, **more):
    table = LaunchTable(pd.DataFrame({"name": ["k"] * len(strata)}))
    return Plan.of(table, "test", strata, chosen, drawn=False, **more)


@pytest.fixture
def trace(tmp_path):
    names = ["", "kernel-1.traceg", "kernel-2.traceg", "", "kernel-3.traceg", "kernel-4.traceg.xz"]
    return _trace(tmp_path / "trace", names)


def test_the_chosen_files_their_list_and_weights(trace, tmp_path):
    out = tmp_path / "new" / "out"
    write_kernels(_plan([0, 0, 0, 1], [1, 3]), trace, out)
    list_ = COPY + "kernel-2.traceg\n" + COPY + "kernel-4.traceg.xz\n"
    assert (out / "kernelslist.g").read_text() == list_
    weights = "kernel,launch,weight\nkernel-2.traceg,1,3.0\nkernel-4.traceg.xz,3,1.0\n"
    assert (out / "weights.csv").read_text() == weights
    assert (out / "kernel-2.traceg").read_text() == "trace of kernel-2.traceg"
    assert sorted(path.name for path in out.iterdir()) == [
        "kernel-2.traceg", "kernel-4.traceg.xz", "kernelslist.g", "weights.csv",
    ]  # fmt: skip


def test_weights_of_a_ratio(trace, tmp_path):
    plan = _plan([0] * 4, [1], estimator="ratio", auxiliary=np.array([1.0, 2, 3, 4]))
    write_kernels(plan, trace, tmp_path / "out")
    assert pd.read_csv(tmp_path / "out" / "weights.csv")["weight"].tolist() == [5]


def test_links_lead_to_the_trace_and_a_copy_leaves_what_they_lead_to(trace, tmp_path):
    out, plan = tmp_path / "out", _plan([0] * 4, [0])
    for _ in range(2):
        write_kernels(plan, trace, out, link=True)
    assert (out / "kernel-1.traceg").is_symlink()
    assert (out / "kernel-1.traceg").resolve() == (trace / "kernel-1.traceg").resolve()
    names = [f"kernel-{k}.traceg" for k in range(1, 5)]
    write_kernels(plan, _trace(tmp_path / "other", names, "other "), out)
    assert not (out / "kernel-1.traceg").is_symlink()
    assert (out / "kernel-1.traceg").read_text() == "other kernel-1.traceg"
    assert (trace / "kernel-1.traceg").read_text() == "trace of kernel-1.traceg"


def test_a_file_may_be_launched_twice(tmp_path):
    trace = _trace(tmp_path / "trace", ["kernel-1.traceg"] * 3)
    write_kernels(_plan([0, 1, 1], [0, 2]), trace, tmp_path / "out")
    assert (tmp_path / "out" / "kernelslist.g").read_text() == "kernel-1.traceg\n" * 2
    assert pd.read_csv(tmp_path / "out" / "weights.csv")["launch"].tolist() == [0, 2]


def test_what_is_written_is_a_trace(tmp_path):
    k = lockstep.KernelBuilder("probe", grid=2, block=64)
    k("LDG.E R4, [R2]", address=k.coalesced(0x7F0000000000))
    k("EXIT")
    api.save(program(k, k, k, name="probe"), tmp_path / "trace")
    write_kernels(_plan([0] * 3, [1]), tmp_path / "trace", tmp_path / "out")
    (kernel,) = lockstep.load(tmp_path / "out").kernels
    (before, *_) = lockstep.load(tmp_path / "trace").kernels
    assert kernel.name == "probe" and len(list(kernel.ctas())) == len(list(before.ctas()))


def test_what_is_refused(trace, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(LockstepError, match=r"plan is for 3 launches, and .* has 4"):
        write_kernels(_plan([0] * 3, [1]), trace, out)
    with pytest.raises(LockstepError, match="is the trace itself: name another directory"):
        write_kernels(_plan([0] * 4, [1]), trace, tmp_path / "out" / ".." / "trace")
    with pytest.raises(LockstepError, match="regression estimate has no weights"):
        auxiliary = np.arange(4.0)
        plan = _plan([0] * 4, [1], estimator="regression", auxiliary=auxiliary)
        write_kernels(plan, trace, out)
    with pytest.raises(InputError, match="no such file"):
        write_kernels(_plan([0] * 4, [1]), tmp_path / "absent", out)
    raw = _trace(tmp_path / "raw", ["kernel-1.trace"])
    with pytest.raises(InputError, match=r"Accel-Sim reads \.traceg"):
        write_kernels(_plan([0], [0]), raw, out)
    assert not out.exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        write_kernels(_plan([0] * 4, [1]), trace, tmp_path / "file" / "out")


def test_two_files_of_one_name_are_refused(tmp_path):
    trace = tmp_path / "trace"
    for folder in ("kernels-a", "kernels-b"):
        (trace / folder).mkdir(parents=True)
        (trace / folder / "kernel-1.traceg").write_text("")
    (trace / "kernelslist.g").write_text("kernels-a/kernel-1.traceg\nkernels-b/kernel-1.traceg\n")
    with pytest.raises(InputError, match="has the name of"):
        write_kernels(_plan([0, 1], [0, 1]), trace, tmp_path / "out")
    write_kernels(_plan([0, 0], [1]), trace, tmp_path / "out")
    assert (tmp_path / "out" / "kernelslist.g").read_text() == "kernel-1.traceg\n"


def _launches(device, count=6):
    module = device.load_ptx(Path(__file__).with_name("kernels.ptx"))
    x, y = device.array(np.ones(512, "f4")), device.zeros(512)
    for number in range(count):
        module["axpy"][2, 256](512 - 32 * number, 2.0, x, y)


def _profiled(chosen):
    with lockstep.Device("QV100") as device:
        profiler = Profiler(device, level=0)
        _launches(device)
        table = profiler.table()
    return Plan.of(table, "test", [0, 0, 0, 1, 1, 1], chosen, drawn=False)


def _recorded(plan, path, count=6, **options):
    with (
        lockstep.Device("QV100") as device,
        device.attach(lambda: ListRecorder(device, path, plan, **options)),
    ):
        _launches(device, count)


@pytest.mark.parametrize("tracer", [5, 6])
def test_a_recorded_plan_is_the_list_of_a_whole_trace(tmp_path, tracer):
    plan = _profiled([1, 3, 5])
    with lockstep.Device("QV100") as device, device.record(tmp_path / "whole", tracer=tracer):
        _launches(device)
    write_kernels(plan, tmp_path / "whole", tmp_path / "list")
    _recorded(plan, tmp_path / "recorded", tracer=tracer)
    expected, found = (tmp_path / name for name in ("list", "recorded"))
    rows = [pd.read_csv(each / "weights.csv") for each in (expected, found)]
    assert rows[1]["launch"].tolist() == [1, 3, 5]
    assert rows[0]["weight"].tolist() == rows[1]["weight"].tolist()
    assert rows[1]["kernel"].tolist() == [f"kernel-{k}.traceg" for k in (1, 2, 3)]
    for theirs, ours in zip(*(lockstep.load(each).kernels for each in (expected, found))):
        assert (theirs.name, theirs.grid, theirs.block) == (ours.name, ours.grid, ours.block)
        for one, other in zip(theirs.ctas(), ours.ctas(), strict=True):
            np.testing.assert_array_equal(one.runs, other.runs)
            np.testing.assert_array_equal(one.addresses, other.addresses)
    copies = [(each / "kernelslist.g").read_text().count("Memcpy") for each in (expected, found)]
    assert copies[0] == copies[1] == 1


def test_a_program_that_launches_something_else_leaves_nothing(tmp_path):
    with pytest.raises(LockstepError, match="6 launches, and there are 5"):
        _recorded(_profiled([1, 3]), tmp_path / "out", count=5)
    assert not list(tmp_path.iterdir())
    with pytest.raises(LockstepError, match="is a directory"):
        _recorded(_profiled([1, 3]), tmp_path / "out.lst")

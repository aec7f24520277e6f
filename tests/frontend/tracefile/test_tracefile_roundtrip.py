"""What is written is read, by our reader and by one that knows only the description."""

import lzma

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockstep.frontend import accelsim, tracefile
from lockstep.frontend.tracefile import build

SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]


@pytest.mark.long
@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(data=st.data())
def test_any_workload_survives(data, workloads, content, naive, tmp_path, monkeypatch):
    workload = data.draw(workloads)
    monkeypatch.setattr(build, "TARGET", data.draw(st.sampled_from([1, 2000, 4 << 20])))
    path = tmp_path / "any.lst"
    tracefile.write(workload, path)
    expected = content(workload)
    assert content(tracefile.load(path)) == expected
    assert naive.read(path) == expected


def test_a_small_workload_survives(small, content, naive, tmp_path):
    tracefile.write(small, tmp_path / "small.lst")
    assert content(tracefile.load(tmp_path / "small.lst")) == content(small)
    assert naive.read(tmp_path / "small.lst") == content(small)


def test_warps_of_64_threads_survive(small, content, naive, tmp_path):
    for kernel in small.kernels:
        kernel.block, kernel.warp_size = (128, 1, 1), 64
    tracefile.write(small, tmp_path / "wide.lst")
    loaded = tracefile.load(tmp_path / "wide.lst")
    assert [k.warp_size for k in loaded.kernels] == [64, 64]
    assert naive.read(tmp_path / "wide.lst") == content(loaded) == content(small)


def test_scalar_registers_survive(small, content, naive, tmp_path):
    small.kernels[1].scalar_registers = 102
    tracefile.write(small, tmp_path / "scalar.lst")
    loaded = tracefile.load(tmp_path / "scalar.lst")
    assert [k.scalar_registers for k in loaded.kernels] == [0, 102]
    assert naive.read(tmp_path / "scalar.lst") == content(loaded) == content(small)


def test_a_file_of_32_threads_a_warp_is_one_that_older_programs_read(small, tmp_path):
    tracefile.write(small, tmp_path / "small.lst")
    assert (tmp_path / "small.lst").read_bytes()[8:12] == bytes([2, 0, 2, 0])


def test_writing_twice_gives_the_same_bytes(small, tmp_path):
    tracefile.write(small, tmp_path / "a.lst")
    tracefile.write(tracefile.load(tmp_path / "a.lst"), tmp_path / "b.lst")
    assert (tmp_path / "a.lst").read_bytes() == (tmp_path / "b.lst").read_bytes()


@pytest.mark.long
def test_real_traces_survive_and_are_smaller_than_xz(real_traces, tmp_path):
    for folder in real_traces:
        path = tmp_path / f"{folder.name}.lst"
        workload = accelsim.load(folder)
        tracefile.write(workload, path)
        _check_same(tracefile.load(path), workload)
        assert path.stat().st_size < _xz_size(folder), folder.name


def test_the_description_suffices_for_real_traces(real_traces, content, naive, tmp_path):
    folders = [f for f in real_traces if f.name in ("vectoradd-sm61", "matmul-sm61", "bfs-sm80")]
    for folder in folders:
        path = tmp_path / f"{folder.name}.lst"
        tracefile.write(accelsim.load(folder), path)
        assert naive.read(path) == content(tracefile.load(path))
    assert len(folders) == 3


def _check_same(left, right):
    assert left.name == right.name
    for ours, theirs in zip(left.commands, right.commands, strict=True):
        if not hasattr(ours, "ctas"):
            assert ours == theirs
            continue
        for a, b in zip(ours.ctas(), theirs.ctas(), strict=True):
            assert a.index == b.index
            for name in ("warps", "runs", "addresses", "pool"):
                assert getattr(a, name).tobytes() == getattr(b, name).tobytes()
        assert ours.code.instructions.tobytes() == theirs.code.instructions.tobytes()
        assert ours.code.texts == theirs.code.texts
        assert vars(ours) | {"code": 0, "ctas": 0} == vars(theirs) | {"code": 0, "ctas": 0}


def _xz_size(folder):
    return sum(map(_compressed_size, folder.iterdir()))


def _compressed_size(path):
    if path.suffix == ".xz" or path.name.startswith("kernelslist"):
        return path.stat().st_size
    return len(lzma.compress(path.read_bytes(), preset=9 | lzma.PRESET_EXTREME))


@pytest.mark.parametrize("kind", ["name", "text"])
def test_strange_names_survive(kind, small, tmp_path):
    kernel = small.kernels[0]
    if kind == "name":
        kernel.name = "a\udcff\0é"
    else:
        kernel.code.texts[0] = "a\udcff\0é"
    tracefile.write(small, tmp_path / "t.lst")
    again = tracefile.load(tmp_path / "t.lst").kernels[0]
    assert (again.name, again.code.texts) == (kernel.name, kernel.code.texts)

"""Checkpoints: a run goes on from one as if it had never ended."""

import json
import os
import re
import signal

import numpy as np
import pytest
from hypothesis import Phase, given, note, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from engine.stopping import WHO, Stop, StopAfter
from lockstep.builder import KernelBuilder, program
from lockstep.engine import Session, checkpoint, run
from lockstep.engine.kernels import KernelTable
from lockstep.engine.machine import Machine
from lockstep.engine.running import Running
from lockstep.engine.streams import Streams
from lockstep.errors import InputError, WorkloadError
from lockstep.workload import MemoryCopy, Workload

A = 0x7F0000000000


def resumed(make, gpu, folder, windows, ranks=(1, 1), **options):
    """A run that was ended after some looks and went on, or None if it was over before.

    ``ranks``: of the run that is ended, and of the one that goes on.
    """
    before, after = ranks
    try:
        run(make(), gpu, keep=StopAfter(windows, folder), ranks=before, **options)
    except Stop:
        frozen = checkpoint.load(folder, WHO)
        return run(make(), gpu, frozen=frozen, threads=1 + windows % 3, ranks=after, **options)
    return None


@pytest.mark.long
def test_a_run_goes_on_as_if_it_had_never_ended(small, mixed, raw, tmp_path):
    def make():
        several = program(mixed("a", grid=60, stream=1), mixed("b", stream=2), mixed("c", grid=40))
        return Workload("w", [MemoryCopy(A, 1 << 16), *several.commands])

    gpu = small(sm__ctas=2)
    options = {"cta_events": True, "interval": 300, "first_cta": {1: 10}}
    whole = run(make(), gpu, **options)
    places = 0, 1, 2, 5, 13, 34, 89, 144, 1 << 30
    results = [resumed(make, gpu, tmp_path, windows, **options) for windows in places]
    assert results[-1] is None, "it was over"
    ended_early = [result for result in results if result is not None]
    assert len(ended_early) >= 7, "there were places enough to stop at"
    for result in ended_early:
        assert raw(result) == raw(whole)
        assert result.samples.tobytes() == whole.samples.tobytes()
        assert result.copies == whole.copies


@pytest.mark.long
@pytest.mark.parametrize("ranks", [(1, 1), (2, 1), (1, 4), (4, 2)])
def test_a_run_of_modules_goes_on_as_if_it_had_never_ended(small, mixed, raw, tmp_path, ranks):
    def make():
        return mixed("a", grid=90).workload()

    gpu = small(
        sm__count=8, dram__channels=4, modules__count=4, modules__bandwidth=60.0,
        modules__pages="first_touch", modules__ctas="contiguous",
    )  # fmt: skip
    options = {"cta_events": True, "interval": 100}
    whole = run(make(), gpu, **options)
    for windows in (0, 1, 3, 5):
        resumed_run = resumed(make, gpu, tmp_path, windows, ranks, **options)
        assert resumed_run is not None and raw(resumed_run) == raw(whole)
        assert np.array_equal(resumed_run.module_samples, whole.module_samples)


@settings(max_examples=10, phases=set(Phase) - {Phase.shrink})
@given(st.data())
def test_random_programs_on_random_gpus_go_on(programs, raw, tmp_path_factory, data):
    workload, gpu, changes = data.draw(programs.runs(most=3))
    note(changes)
    windows, folder = data.draw(st.integers(0, 6)), tmp_path_factory.mktemp("checkpoint")
    whole = run(workload, gpu, limit_cycles=4000, cta_events=True)
    result = resumed(lambda: workload, gpu, folder, windows, limit_cycles=4000, cta_events=True)
    assert result is None or raw(result) == raw(whole)


def test_clusters_that_were_read_in_part_are_complete_afterwards(small, raw, tmp_path):
    def make():
        k = KernelBuilder("k", grid=(4, 64), block=64, cluster=(1, 4), architecture=90)
        for _ in range(30):
            k("NOP")
        k("UCGABAR_ARV")
        k("UCGABAR_WAIT")
        return k.workload()

    gpu = small(sm__ctas=2)
    whole, results = run(make(), gpu, cta_events=True), []
    for windows in range(4):
        results.append(resumed(make, gpu, tmp_path, windows, cta_events=True))
    assert any(results) and all(raw(r) == raw(whole) for r in results if r)


PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
ARRAYS = arrays.arrays(
    st.sampled_from(["i8", "u1", "i4"]), arrays.array_shapes(max_dims=2, min_side=0, max_side=40)
)


@given(
    st.dictionaries(st.text(max_size=4), PLAIN | ARRAYS | st.lists(PLAIN, max_size=3), max_size=5)
)
def test_what_is_saved_is_loaded(tmp_path_factory, tree):
    folder = tmp_path_factory.mktemp("tree")
    checkpoint.save(folder, WHO, tree)
    found = checkpoint.load(folder, WHO)
    assert list(found) == list(tree)
    for name, value in tree.items():
        if isinstance(value, np.ndarray):
            assert found[name].dtype == value.dtype and found[name].shape == value.shape
            assert found[name].tobytes() == value.tobytes()
        else:
            assert found[name] == value


def test_records_and_pages_of_zeros(tmp_path):
    dtype = np.dtype([("a", "i8"), ("b", "i4", (3,)), ("c", [("d", "u1")])])
    tree = {"records": np.zeros((3, 5000), dtype), "far": np.zeros(1 << 20, np.int64)}
    tree["records"]["b"][2, 4999, 1], tree["far"][-1], tree["far"][0] = 7, 8, 9
    checkpoint.save(tmp_path, WHO, tree)
    assert (tmp_path / checkpoint.NAME).stat().st_size < 20_000, "what is zero takes no room"
    found = checkpoint.load(tmp_path, WHO)
    assert found["records"].dtype == dtype
    assert all(found[name].tobytes() == tree[name].tobytes() for name in tree)


def test_of_something_else_it_is_refused_by_name(tmp_path):
    checkpoint.save(tmp_path, WHO, {})
    for name in WHO:
        with pytest.raises(InputError, match=f"the checkpoint is of another {name}: resume with"):
            checkpoint.load(tmp_path, WHO | {name: "else"})


def test_there_must_be_one(tmp_path):
    with pytest.raises(InputError, match="cannot read the checkpoint: No such file"):
        checkpoint.load(tmp_path / "none", WHO)
    (tmp_path / checkpoint.NAME).write_bytes(b"something else")
    with pytest.raises(InputError, match="is no checkpoint of this version"):
        checkpoint.load(tmp_path, WHO)


@settings(max_examples=60)
@given(st.data())
def test_damage_is_found(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damaged")
    checkpoint.save(folder, WHO, {"a": np.arange(2000), "b": [1, 2]})
    file = folder / checkpoint.NAME
    content = bytearray(file.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[place] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del content[place:]
    file.write_bytes(content)
    with pytest.raises(InputError):
        checkpoint.load(folder, WHO)


def test_it_is_written_every_so_often(tmp_path, monkeypatch):
    now, saved = [0.0], []
    monkeypatch.setattr(checkpoint, "perf_counter", lambda: now[0])
    monkeypatch.setattr(checkpoint, "save", lambda *_: saved.append(now[0]))
    keeper = checkpoint.Keeper(tmp_path, 10.0, WHO)
    for second in range(35):
        now[0] = float(second)
        if keeper.due():
            keeper.save({})
    assert saved == [10.0, 20.0, 30.0]


@pytest.mark.long
def test_any_number_of_ranks_goes_on_from_any(small, mixed, raw, tmp_path):
    def make():
        several = program(mixed("a", grid=60, stream=1), mixed("b", stream=2), mixed("c", grid=40))
        return Workload("w", [MemoryCopy(A, 1 << 16), *several.commands])

    gpu = small(sm__ctas=2, sm__count=5, dram__channels=3)
    options = {"cta_events": True, "interval": 300}
    whole = run(make(), gpu, **options)
    counts = [(2, 1), (1, 2), (2, 3), (3, 4), (5, 2)]
    results = [resumed(make, gpu, tmp_path, k, ranks, **options) for k, ranks in enumerate(counts)]
    for result in results:
        assert raw(result) == raw(whole)
        assert result.samples.tobytes() == whole.samples.tobytes()


@settings(max_examples=8, phases=set(Phase) - {Phase.shrink})
@given(st.data())
def test_random_programs_go_on_on_other_ranks(programs, raw, tmp_path_factory, data):
    workload = data.draw(programs.workloads(most=2))
    gpu, changes = data.draw(programs.gpus())
    note(changes)
    count = st.integers(1, min(4, gpu.sm.count))
    ranks, windows = data.draw(st.tuples(count, count)), data.draw(st.integers(0, 3))
    note((ranks, windows))
    whole = run(workload, gpu, limit_cycles=3000, cta_events=True)
    folder = tmp_path_factory.mktemp("checkpoint")
    options = {"limit_cycles": 3000, "cta_events": True}
    result = resumed(lambda: workload, gpu, folder, windows, ranks, **options)
    assert result is None or raw(result) == raw(whole)


def test_arenas_move_after_another_rank_ran_some_of_the_ctas(small, mixed, raw, tmp_path):
    def make():
        return mixed("a", grid=1200, block=256).workload()

    gpu = small(sm__ctas=8)
    whole = run(make(), gpu)
    result = resumed(make, gpu, tmp_path, 40, (3, 2))
    assert result is not None and raw(result) == raw(whole)


class Never(StopAfter):
    """Saves when a run is ended, and not before."""

    def due(self):
        return False

    def save(self, frozen):
        checkpoint.save(self.folder, WHO, frozen)


@pytest.mark.long
@pytest.mark.parametrize("ranks", [1, 3])
def test_a_run_that_is_interrupted_leaves_a_checkpoint(small, mixed, raw, tmp_path, ranks):
    gpu = small(sm__count=5, dram__channels=3)
    whole = run(mixed(grid=400).workload(), gpu)
    session = Session(gpu, ranks=ranks, progress=lambda *_: os.kill(os.getpid(), signal.SIGINT))
    session.run(mixed(grid=400).workload().commands, keep=Never(0, tmp_path))
    session.close()
    assert session.stopped == f"interrupted at cycle {session.now}"
    frozen = checkpoint.load(tmp_path, WHO)
    assert 0 < frozen["plain"]["now"] <= session.now < whole.cycles
    assert raw(run(mixed(grid=400).workload(), gpu, frozen=frozen)) == raw(whole)


def test_what_cannot_be_written_is_said_and_the_run_goes_on(tmp_path):
    said = []
    (tmp_path / "file").write_text("")
    keeper = checkpoint.Keeper(tmp_path / "file", 0.0, WHO, said.append)
    keeper.save({})
    keeper.save({})
    assert len(said) == 1 and "cannot write" in said[0]
    with pytest.raises(InputError, match="cannot write"):
        checkpoint.Keeper(tmp_path / "file", 0.0, WHO).save({})


def test_kernels_at_issue_have_none(small, mixed):
    machine = Machine(small(), 1, {})
    machine.close()
    table = KernelTable(Streams(machine.sm, machine.dispatcher, machine.own_sms), small())
    kernel = mixed().kernel()
    assert table.unkept() == ""
    table.running[0] = Running(kernel, 0, 0, False, iter(()), 0, 0, source=object())
    assert re.search(r"no checkpoint while .*mixed.* runs: .* at issue", table.unkept())


def test_a_workload_with_fewer_ctas_is_refused(small, mixed, tmp_path):
    with pytest.raises(Stop):
        run(mixed(grid=300).workload(), small(), keep=StopAfter(2, tmp_path))
    frozen = checkpoint.load(tmp_path, WHO)
    with pytest.raises(WorkloadError, match="its grid has 2"):
        run(mixed(grid=2).workload(), small(), frozen=frozen)


def test_the_manifest_can_be_read_by_hand(tmp_path):
    checkpoint.save(tmp_path, WHO, {"now": 7})
    content = (tmp_path / checkpoint.NAME).read_bytes()[len(checkpoint.MAGIC) + 40 :]
    assert json.loads(content)["tree"] == {"now": 7}

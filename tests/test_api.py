import json
import subprocess
import sys

import pytest

import lockstep
from lockstep import api
from lockstep.builder import program


@pytest.fixture(scope="module")
def workload():
    k = lockstep.KernelBuilder("probe", grid=2, block=64)
    with k.loop(4):
        k("LDG.E R4, [R2]", address=k.coalesced(0x7F0000000000))
        k("FFMA R8, R4, R5, R8")
    k("EXIT")
    return program(k, k, name="probe")


def test_importing_costs_next_to_nothing():
    code = "import sys, lockstep; print([m for m in ('numpy', 'numba') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there():
    for name in lockstep.__all__:
        assert getattr(lockstep, name) is not None
    assert lockstep.__version__
    with pytest.raises(AttributeError, match="frob"):
        lockstep.frob  # noqa: B018


def test_gpus_by_name_with_overrides():
    assert "QV100" in lockstep.gpu_names()
    gpu = lockstep.gpu("QV100", ["sm.count=3"])
    assert gpu.sm.count == 3
    with pytest.raises(lockstep.SpecError):
        lockstep.gpu("QV100", ["sm.count=0"])


def test_a_gpu_of_an_accel_sim_configuration(tmp_path):
    path = tmp_path / "OLD" / "gpgpusim.config"
    path.parent.mkdir()
    path.write_text("-gpgpu_n_clusters 5\n-gpgpu_n_cores_per_cluster 2\n")
    (path.parent / "trace.config").write_text("-trace_opcode_latency_initiation_dp 9,4\n")
    gpu = lockstep.gpu(path, ["l2.ways=7"])
    assert (gpu.name, gpu.sm.count, gpu.l2.ways) == ("OLD", 10, 7)
    with_default_latency = lockstep.gpu(path.rename(tmp_path / "gpgpusim.config"))
    assert gpu.sm.units != with_default_latency.sm.units


@pytest.mark.parametrize("name", ["x.lst", "text"])
def test_workloads_are_saved_and_recognised(workload, tmp_path, name):
    lockstep.save(workload, tmp_path / name)
    loaded = lockstep.load(tmp_path / name)
    assert [k.grid for k in loaded.kernels] == [(2, 1, 1)] * 2


def test_our_own_files_are_known_by_content(workload, tmp_path):
    lockstep.save(workload, tmp_path / "x.lst")
    (tmp_path / "x.lst").rename(tmp_path / "renamed")
    assert len(lockstep.load(tmp_path / "renamed").kernels) == 2


@pytest.mark.parametrize("path", ["missing", "missing.lst", ".", "/dev/null"])
def test_what_is_no_trace_is_an_input_error(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(lockstep.InputError):
        lockstep.load(path)


@pytest.mark.parametrize(
    ("version", "architectures"), [(70, (70,)), (61, (61,)), (0, None), (999, None), (1, None)]
)
def test_the_default_gpu_runs_the_binaries(workload, version, architectures):
    for kernel in workload.kernels:
        kernel.architecture = version
    gpu = lockstep.gpu_for(workload)
    for kernel in workload.kernels:
        kernel.architecture = 70
    if architectures:
        assert version in gpu.architectures
    assert gpu.name in lockstep.gpu_names()


def test_simulate_needs_sensible_numbers(workload):
    for wrong in ({"threads": 0}, {"limit_cycles": -1}, {"interval": 0}, {"kernels": [9]}):
        with pytest.raises(lockstep.LockstepError):
            lockstep.simulate(workload, "QV100", **wrong)


@pytest.fixture(scope="module")
def result(workload):
    return lockstep.simulate(workload, "QV100", interval=100, timeline=True)


def test_a_simulation_counts_every_instruction(result):
    assert result.stopped == ""
    assert result.warp_instructions == 2 * 2 * 2 * 9
    assert result.total["sm__inst_executed.sum"] == result.warp_instructions
    assert list(result.kernels["warp_instructions"]) == [36, 36]
    assert result.opcodes == {"LOAD": 32, "FP32": 32, "EXIT": 8}


def test_scheduler_states_of_a_real_run_sum_to_a_hundred(result):
    columns = [c for c in result.kernels if c.startswith("sim__scheduler_")]
    assert result.kernels[columns].sum(axis=1).tolist() == pytest.approx([100.0, 100.0])


def test_the_series_adds_up_to_the_kernels(result):
    assert result.series["sm__inst_executed.sum"].sum() == result.warp_instructions
    assert result.series["end"].iloc[-1] >= result.cycles


def test_a_simulation_has_a_timeline_and_a_summary(result, tmp_path):
    lockstep.write_timeline(result, tmp_path / "t.json.gz")
    assert (tmp_path / "t.json.gz").stat().st_size > 100
    assert "Speed of light" in lockstep.summary(result)


def test_the_hash_does_not_depend_on_threads(workload, result):
    other = lockstep.simulate(workload, "QV100", threads=2, interval=100)
    assert other.hash == result.hash


def test_a_selection_and_limits(workload):
    one = lockstep.simulate(workload, "QV100", kernels=[2])
    assert list(one.kernels["id"]) == [2]
    short = lockstep.simulate(workload, "QV100", limit_cycles=10)
    assert short.stopped


def test_parts_of_kernels_are_marked(workload, tmp_path):
    whole = lockstep.simulate(workload, "QV100")
    part = lockstep.simulate(workload, "QV100", first_cta={2: 1}, stop=lambda *seen: False)
    assert list(part.kernels["complete"]) == [True, False]
    assert list(part.kernels["ctas_done"]) == [2, 1] and list(part.kernels["first_cta"]) == [0, 1]
    by_function = lockstep.simulate(workload, "QV100", first_cta=lambda k: k.id == 2)
    assert by_function.hash == part.hash != whole.hash
    stopped = lockstep.simulate(workload, "QV100", stop=lambda *seen: "enough", stop_interval=1)
    part.to_json(tmp_path / "part.json")
    entries = json.loads((tmp_path / "part.json").read_text())["kernels"]
    assert [(e["ctas"], e["ctas_done"], e["complete"]) for e in entries] == [
        (2, 2, True),
        (2, 1, False),
    ]
    assert set(stopped.kernels["stopped"]) == {"enough"} and stopped.stopped == ""
    with pytest.raises(lockstep.WorkloadError, match="no kernel 9"):
        lockstep.simulate(workload, "QV100", first_cta={9: 1})
    with pytest.raises(lockstep.LockstepError, match="stop_interval"):
        lockstep.simulate(workload, "QV100", stop=lambda *seen: False, stop_interval=0)


def test_ctrl_c_keeps_what_there_is_by_then():
    def interrupt(done, total, cycle, instructions, name):
        if instructions > 0:
            raise KeyboardInterrupt

    k = lockstep.KernelBuilder("long", grid=1_000_000, block=256)
    with k.loop(100):
        k("FFMA R8, R4, R5, R8")
    k("EXIT")
    result = lockstep.simulate(k.workload(), "QV100", progress=interrupt)
    assert result.stopped.startswith("interrupted")
    assert 0 < result.warp_instructions < 1_000_000 * 8 * 101
    assert list(result.kernels["complete"]) == [False]


def test_progress_and_notices_are_callbacks(workload):
    said = []
    lockstep.simulate(workload, "QV100", progress=lambda *a: said.append(a), notice=said.append)
    for call in said:
        assert isinstance(call, str) or len(call) == 5


def test_the_fitness_prefers_native_then_nearest_below():
    ranked = [(70, (True, 70)), (72, (False, 70)), (60, (False, -1))]
    gpu = lockstep.gpu("QV100")
    assert gpu.architectures[0] == 70
    for version, expected in ranked:
        assert api._fitness(gpu, version)[:2] == expected


@pytest.mark.parametrize(
    ("name", "gpu"),
    [("matmul-sm61", "TITANX"), ("vectoradd-sm80", "QV100"), ("bfs-sm80", "QV100")],
)
def test_converted_traces_take_the_same_cycles(shared, tmp_path, name, gpu):
    recorded = lockstep.load(shared / "data" / "traces" / name)
    recorded.commands = recorded.commands[:12]
    lockstep.save(recorded, tmp_path / "ours.lst")
    lockstep.save(lockstep.load(tmp_path / "ours.lst"), tmp_path / "theirs")
    first, *others = (
        lockstep.simulate(source, gpu)
        for source in (recorded, tmp_path / "ours.lst", tmp_path / "theirs")
    )
    assert [other.hash for other in others] == 2 * [first.hash]


def test_the_files_of_a_trace(workload, tmp_path):
    api.save(workload, tmp_path)
    listed = tmp_path / "kernelslist.g"
    listed.write_text("MemcpyHtoD,0x00007f0000000000,64\n" + listed.read_text())
    copy, *files = api.trace_files(tmp_path)
    assert copy.bytes == 64
    assert files == [tmp_path / f"kernel-{k}.traceg" for k in (1, 2)] == api.trace_files(listed)[1:]
    assert api.trace_files(files[0]) == files[:1]

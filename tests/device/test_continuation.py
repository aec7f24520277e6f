"""Scripts that go on from a checkpoint: all that they see is what they would have seen."""

import json

import numpy as np
import pytest

import lockstep
from lockstep import kernels
from lockstep.builder import KernelBuilder
from lockstep.device import Diverged, Stopped, Treatment
from lockstep.engine import checkpoint
from lockstep.engine.simulation import Simulation
from lockstep.errors import InputError, LockstepError


class Stop(Exception):
    pass


@pytest.fixture
def stop_after(monkeypatch):
    """Function: let a device save at its nth look from now on, and end its script."""
    left = [0]

    class StopAfter(checkpoint.Keeper):
        def due(self):
            left[0] -= 1
            return left[0] < 0

        def save(self, frozen):
            super().save(frozen)
            raise Stop

    monkeypatch.setattr(checkpoint, "Keeper", StopAfter)

    def set_looks(looks):
        left[0] = looks

    return set_looks


def of(device):
    """All that a result has, but for the times of the host."""
    result = device.partial_result()
    document = result.to_dict()
    document["run"] = document["run"]["result_hash"]
    tables = result.kernels.to_csv(), result.series.to_csv()
    events = sorted(result.run.cta_events.tolist())
    profiles = [launch.profile for launch in device.launches]
    return json.dumps(document), *tables, events, profiles, result.manifest["trace_hash"]


def from_everywhere(make, script, stop_after, folder, step):
    """Whether a script that is ended and started again is as if it had never been."""
    with make() as device:
        whole = script(device), of(device)
    looks = 0
    while True:
        stop_after(looks)
        try:
            with make(checkpoint=folder) as device:
                script(device)
            break
        except Stop:
            pass
        with make(resume=folder, threads=1 + looks % 2) as device:
            assert (script(device), of(device)) == whole, looks
        looks += step
    return looks // step


def test_launches_of_several_streams_go_on(small_gpu, ptx, stop_after, tmp_path):
    def make(**options):
        options |= {"timing": True, "profile": True, "interval": 500, "timeline": True}
        return lockstep.Device(small_gpu, **options)

    def script(device):
        module, seen = device.load_ptx(ptx), []
        x, y = device.array(np.ones(4096, "f4")), device.zeros(4096)
        streams, event = [device.stream(), device.stream()], device.event()
        for _ in range(3):
            event.record(streams[0])
            launch = module["axpy"][32, 128, 0, streams[0]](4096, 2.0, x, y)
            values = device.array(np.arange(4000, dtype="u4"))
            module["mixed"][8, 128, 0, streams[1]](values, device.empty(1024, "u4"))
            seen += [y.numpy().sum(), launch.cycles, event.cycle, device.clock]
        return seen

    assert from_everywhere(make, script, stop_after, tmp_path, 5) >= 4


@pytest.mark.long
@pytest.mark.parametrize("name, at_issue", [("bfs", False), ("grid_barrier", False), ("bfs", True)])
def test_programs_go_on(small_gpu, stop_after, tmp_path, name, at_issue):
    def make(**options):
        return lockstep.Device(small_gpu, timing=True, profile=True, at_issue=at_issue, **options)

    def script(device):
        program = kernels.load(name)
        for _ in range(2):
            checks = program.run(device, program.small)
        return [check.actual.numpy().tobytes() for check in checks]

    assert from_everywhere(make, script, stop_after, tmp_path, 30 if name == "bfs" else 2) >= 1


@pytest.mark.parametrize("ranks", [2, 3])
def test_what_is_executed_again_is_so_once_for_all_ranks(
    small_gpu, ptx, stop_after, tmp_path, ranks
):
    def script(device):
        kernel, cycles = device.load_ptx(ptx)["axpy"], []
        x, y = device.array(np.ones(4096, "f4")), device.zeros(4096)
        for _ in range(4):  # each adds
            cycles.append(kernel[32, 128](4096, 2.0, x, y).cycles)
        return y.numpy().tobytes(), cycles

    with lockstep.Device(small_gpu, timing=True) as device:
        whole = script(device), device.result.hash
    for looks in (5, 9):
        stop_after(looks)
        with (
            pytest.raises(Stop),
            lockstep.Device(small_gpu, timing=True, checkpoint=tmp_path) as device,
        ):
            script(device)
        with lockstep.Device(small_gpu, timing=True, resume=tmp_path, ranks=ranks) as device:
            assert (script(device), device.result.hash) == whole


@pytest.mark.parametrize("other", [Treatment.EXECUTE, Treatment.WARM])
def test_launches_that_are_not_simulated_go_on(small_gpu, ptx, stop_after, tmp_path, other):
    treatments = Treatment.SIMULATE, other

    def make(**options):
        return lockstep.Device(small_gpu, timing=True, profile=True, **options)

    def script(device):
        kernel, y = device.load_ptx(ptx)["axpy"], device.zeros(1024)
        x = device.array(np.ones(1024, "f4"))
        for k in range(4):
            geometry = kernel.geometry(((8, 1, 1), (128, 1, 1), 0))
            block = np.array([1024], "u4").tobytes() + np.array([2.0], "f4").tobytes()
            block += np.array([x.pointer, y.pointer], "u8").tobytes()
            device.launch(kernel, geometry, block, device.default_stream, (), treatments[k % 2])
        return y.numpy().tobytes()

    assert from_everywhere(make, script, stop_after, tmp_path, 1) >= 2


def run_some(device, ptx, launches=3, factor=2.0, copies=1):
    module, y = device.load_ptx(ptx), device.zeros(1024)
    for _ in range(copies):
        x = device.array(np.ones(1024, "f4"))
    for _ in range(launches):
        module["axpy"][8, 128](1024, factor, x, y).wait()


@pytest.fixture
def checkpoint_of_three(small_gpu, ptx, stop_after, tmp_path):
    """The folder of a checkpoint of run_some, in its third launch."""
    stop_after(10**6)
    with lockstep.Device(small_gpu, timing=True, checkpoint=tmp_path) as device:
        run_some(device, ptx, 2)
        stop_after(1)
        with pytest.raises(Stop):
            run_some_more(device, ptx)
    return tmp_path


def run_some_more(device, ptx):
    x = device.zeros(1024)
    device.load_ptx(ptx)["axpy"][8, 128](1024, 1.0, x, x).wait()


@pytest.mark.parametrize(
    "other, names",
    [
        ({"factor": 3.0}, r"launch 1 \(axpy\) is the first that differs"),
        ({"copies": 2}, r"a copy of 4096 bytes to 0x\w+ is the first that differs"),
        ({"launches": 1}, r"launch 2 \(axpy\) is the first that differs"),
    ],
)
def test_another_course_is_refused(small_gpu, ptx, checkpoint_of_three, other, names):
    device = lockstep.Device(small_gpu, timing=True, resume=checkpoint_of_three)
    with pytest.raises(Diverged, match=names), device:
        run_some(device, ptx, **{"launches": 2} | other)
        run_some_more(device, ptx)


def test_a_script_that_ends_too_early_is_refused(small_gpu, ptx, checkpoint_of_three):
    with lockstep.Device(small_gpu, timing=True, resume=checkpoint_of_three) as device:
        run_some(device, ptx, 2)
        with pytest.raises(Diverged, match=r"nothing follows launch 2 \(axpy\), where more did"):
            device.partial_result()


@pytest.mark.parametrize(
    "options, name",
    [
        ({"memory_bytes": 1 << 30}, "device memory"),
        ({"at_issue": True}, "at_issue"),
        ({"check": "memory"}, "check"),
        ({"name": "other"}, "program"),
        ({"limit_instructions": 10**9}, "limit_instructions"),
        ({"interval": 100}, "interval"),
    ],
)
def test_of_something_else_it_is_refused(small_gpu, checkpoint_of_three, options, name):
    with pytest.raises(InputError, match=f"of another {name}: resume with the one"):
        lockstep.Device(small_gpu, timing=True, resume=checkpoint_of_three, **options)


def test_a_trace_does_not_go_on_from_a_program(checkpoint_of_three, small_gpu):
    workload = KernelBuilder("k", grid=1, block=32).workload()
    with pytest.raises(InputError, match="of another kind of run: resume with the one"):
        lockstep.simulate(workload, small_gpu, resume=checkpoint_of_three)


def test_time_is_what_goes_on(small_gpu, tmp_path):
    for options in ({"checkpoint": tmp_path}, {"resume": tmp_path}):
        with pytest.raises(LockstepError, match="need timing=True"):
            lockstep.Device(small_gpu, **options)


def test_a_trace_is_recorded_from_the_start(small_gpu, checkpoint_of_three, tmp_path):
    device = lockstep.Device(small_gpu, timing=True, resume=checkpoint_of_three)
    with device, pytest.raises(LockstepError, match="without resume"):
        device.record(tmp_path / "t.lst")


def test_between_launches_an_interrupted_run_leaves_a_checkpoint(small_gpu, ptx, tmp_path):
    def make(**options):
        return lockstep.Device(small_gpu, timing=True, profile=True, **options)

    with make() as device:
        run_some(device, ptx, 3)
        whole = of(device)
    with make(checkpoint=tmp_path, checkpoint_seconds=1e9) as device:
        run_some(device, ptx, 2)
        device.timing.interrupt()
        with pytest.raises(Stopped):
            run_some(device, ptx, 1)
    with make(resume=tmp_path) as device:
        run_some(device, ptx, 3)
        assert of(device) == whole
    with make(resume=tmp_path) as device:
        run_some(device, ptx, 2)
        assert len(device.result.kernels) == 2, "nothing was left to do"


@pytest.mark.parametrize("half", [False, True])
def test_who_is_interrupted_before_it_goes_on_keeps_what_there_was(
    small_gpu, ptx, monkeypatch, tmp_path, half
):
    def make(**options):
        return lockstep.Device(small_gpu, timing=True, profile=True, **options)

    with make() as device:
        run_some(device, ptx, 3)
        whole = of(device)
    with make(checkpoint=tmp_path, checkpoint_seconds=1e9) as device:
        run_some(device, ptx, 2)
        device.timing.interrupt()
    file = tmp_path / checkpoint.NAME
    before, thaw = file.read_bytes(), Simulation.thaw

    def interrupted(simulation, *state):
        if half:
            thaw(simulation, *state)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Simulation, "thaw", interrupted)
        with make(resume=tmp_path, checkpoint=tmp_path, checkpoint_seconds=1e9) as device:
            with pytest.raises(KeyboardInterrupt):
                run_some(device, ptx, 3)
            device.timing.interrupt()
    assert file.read_bytes() == before
    with make(resume=tmp_path) as device:
        run_some(device, ptx, 3)
        assert of(device) == whole


ALLOCATES = """
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b64 r) malloc (.param .b64 n);
.visible .entry allocates()
{
    .reg .b64 %rd<2>;
    {
    .param .b64 n;
    .param .b64 r;
    st.param.b64 [n], 16;
    call.uni (r), malloc, (n);
    ld.param.b64 %rd1, [r];
    }
    ret;
}
"""


def test_nothing_is_written_after_what_cannot_be_kept(small_gpu, ptx, tmp_path):
    said = []
    options = {"timing": True, "at_issue": True, "checkpoint": tmp_path, "checkpoint_seconds": 0.0}
    with lockstep.Device(small_gpu, notice=said.append, **options) as device:
        run_some(device, ptx, 1)
        content = (tmp_path / checkpoint.NAME).read_bytes()
        device.load_ptx(ALLOCATES)["allocates"][1, 32]().wait()
        run_some(device, ptx, 1)
    assert (tmp_path / checkpoint.NAME).read_bytes() == content
    whole = (
        "no checkpoint after kernel 2 (allocates): it is executed at issue, and allocates memory"
    )
    assert whole in said
    assert "no checkpoint while kernel 1 (axpy) runs: it is executed at issue" in said

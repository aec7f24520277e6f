"""Programs whose calls and copies take time: whole ones, and calls without a program."""

import shutil
import subprocess

import numpy as np
import pytest

from lockstep import api
from lockstep.engine.host.costs import Costs
from lockstep.host_calls import Direction
from lockstep.runtime import Simulator, run_program

SMALL = ("sm.count=4", "dram.channels=2", "host.copy=timed", "launch.overhead=100")
HOST = 2  # kind of memory that cudaHostAlloc gives


@pytest.fixture
def simulator():
    """Of a small GPU whose host takes time."""
    made = Simulator(api.gpu("SST_VOLTA", SMALL), timed=True)
    yield made
    made.close()


@pytest.fixture
def client(connect, simulator):
    return connect(simulator=simulator)


def host_of(simulator):
    return simulator.device.result.run.host


@pytest.mark.parametrize("library", ["libcudart.so.11.0", "libcudart.so.13"])
def test_the_eleven_calls_of_the_report(simulator, tmp_path, repository, library):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("needs a C compiler, and there is none")
    source = repository / "tests/runtime/programs/eleven_calls.c"
    program, out = tmp_path / "program", tmp_path / "out"
    subprocess.run([compiler, "-Wall", "-Werror", "-o", program, source, "-ldl"], check=True)
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\nexec {program} {library} > {out}\n")
    script.chmod(0o755)
    end = run_program(simulator, [str(script)])
    assert (end.code, out.read_text()) == (0, "0 wrong, 16 CTAs on an SM\n")
    assert not simulator.unsupported and not simulator.problems
    host = host_of(simulator)
    kinds = [call.kind for call in host.calls]
    assert [kinds.count(kind) for kind in ("allocate", "copy", "launch", "free")] == [1, 2, 1, 1]
    assert [(c.direction, c.bytes) for c in host.copies] == [
        (Direction.TO_DEVICE, 1200),
        (Direction.TO_HOST, 1200),
    ]
    result = simulator.device.result
    assert sum(result.parts.values()) == pytest.approx(host.end * 1e-12)


def test_a_blocking_copy_is_waited_for_and_one_of_a_stream_is_not(client, simulator):
    buffer = client.call("ALLOCATE", size=4096, kind=0)["address"]
    stream = client.call("CREATE_STREAM")["stream"]
    values = np.arange(1024, dtype=np.float32)
    client.write(buffer, values)
    client.write(buffer, values, stream=stream)
    client.call("MEMORY")
    blocking, queued, other = [c for c in host_of(simulator).calls if c.kind != "allocate"][-3:]
    assert blocking.end - blocking.busy == Costs(simulator.device.gpu).latency * 2 + 256_000 + (
        Costs(simulator.device.gpu).in_l2(4096)
    )
    assert queued.end == queued.busy == other.start


def test_memory_of_the_host_is_copied_over_the_link_in_the_order_of_its_stream(client, simulator):
    """A copy, a kernel and a copy back in one stream, by memory that cudaHostAlloc gave."""
    n = 1000
    device = client.call("ALLOCATE", size=4 * n, kind=0)["address"]
    host = client.call("ALLOCATE", size=4 * n, kind=HOST)["address"]
    stream = client.call("CREATE_STREAM", flags=1)["stream"]
    view = simulator.device.memory.view(host, 4 * n).view(np.float32)
    view[:] = np.arange(n)
    rows = {"to_pitch": 4 * n, "source_pitch": 4 * n, "width": 4 * n, "rows": 1}
    kernel = client.kernel()
    client.call("COPY", to=device, source=host, stream=stream, **rows)
    client.launch(kernel, device, n, 0.5, grid_x=8, stream=stream)
    client.call("COPY", to=host, source=device, stream=stream, **rows)
    assert view[1] == 1.0, "nothing was waited for yet"
    client.call("SYNCHRONIZE", stream=stream)
    assert np.array_equal(view, np.arange(n, dtype=np.float32) + 0.5)
    result = simulator.device.result
    first, second = result.run.host.copies
    (run,), clock = result.run.kernels, Costs(simulator.device.gpu).clock
    assert (first.direction, second.direction) == (Direction.TO_DEVICE, Direction.TO_HOST)
    assert clock.cycle(first.end) <= run.launched and clock.time(run.end) <= second.start


def test_events_are_of_the_streams_time(client, simulator):
    buffer = client.call("ALLOCATE", size=1 << 16, kind=0)["address"]
    one = client.call("CREATE_STREAM", flags=1)["stream"]
    other = client.call("CREATE_STREAM", flags=1)["stream"]
    start, end = (client.call("CREATE_EVENT")["event"] for _ in range(2))
    fill = {"pitch": 1 << 16, "width": 1 << 16, "rows": 1, "value": 1, "unit": 4}
    client.call("RECORD_EVENT", event=start, stream=one)
    client.call("FILL", address=buffer, stream=one, **fill)
    client.call("RECORD_EVENT", event=end, stream=one)
    client.call("WAIT_EVENT", event=end, stream=other)
    client.call("FILL", address=buffer, stream=other, **fill)
    elapsed = client.call("ELAPSED", start=start, end=end)["nanoseconds"]
    first, second = host_of(simulator).copies
    calls = [c for c in host_of(simulator).calls if c.kind == "query"]
    assert first.direction is Direction.FILL and second.start >= first.end
    assert 0 < elapsed <= (first.end - calls[0].start) / 1000
    assert simulator.device.memory.view(buffer, 4).tolist() == [1, 0, 0, 0]
    client.call("SYNCHRONIZE", event=end)
    assert host_of(simulator).calls[-1].kind == "synchronize"


def test_a_programs_own_time_counts_if_it_is_asked_for(connect):
    gpu = api.gpu("SST_VOLTA", (*SMALL, "host.time_scale=1000"))
    simulator = Simulator(gpu, timed=True)
    client = connect(simulator=simulator)
    client.call("MEMORY"), client.call("MEMORY")
    own = [call for call in host_of(simulator).calls if call.kind == "program"]
    assert len(own) == 2 and all(call.busy > call.start for call in own)
    simulator.close()


def test_managed_memory_of_a_program_migrates(connect):
    gpu = api.gpu("SST_VOLTA", (*SMALL, "host.memory=migrating", "host.migration_bytes=4096"))
    simulator = Simulator(gpu, timed=True)
    client = connect(simulator=simulator)
    managed = client.call("ALLOCATE", size=4096, kind=1)["address"]
    other = client.call("ALLOCATE", size=4096, kind=0)["address"]
    kernel = client.kernel()
    client.launch(kernel, other, 1000, 0.5, grid_x=8)
    client.call("SYNCHRONIZE")
    assert host_of(simulator).pages.faults == 0
    client.launch(kernel, managed, 1000, 0.5, grid_x=8)
    client.call("SYNCHRONIZE")
    faults = host_of(simulator).pages.faults
    assert faults == 1
    client.call("FREE", address=managed)
    client.call("ALLOCATE", size=4096, kind=0)
    client.launch(kernel, managed, 1000, 0.5, grid_x=8)
    client.call("SYNCHRONIZE")
    assert host_of(simulator).pages.faults == faults, "what lies there now is no managed memory"
    simulator.close()

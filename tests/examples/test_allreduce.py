"""The ring all-reduce: right sums, as quick as links allow, whatever the number of threads."""

import shutil
import subprocess

import pytest

from gpu_systems import NVLINK, NVSWITCH, small_system
from lockstep.gpus import systems
from lockstep.runtime import Simulator, run_program

SLOW = NVLINK | {"bandwidth": 1.0, "packet_bytes": 4096}
"""Links so slow that a buffer of 256 KiB is a large one, as 64 MiB is for real ones."""
FLOATS = 1 << 16


@pytest.fixture(scope="module")
def ring(load_script, repository):
    return load_script(repository / "examples" / "allreduce" / "ring.py")


@pytest.mark.long
@pytest.mark.parametrize("gpus", [2, 4, 8])
def test_a_large_buffer_takes_a_tenth_more_than_its_bytes_at_most(ring, gpus):
    system = small_system(gpus, **SLOW)
    took, ideal, _ = ring.run(system, tuple(range(gpus)), FLOATS, 4)
    assert ideal == pytest.approx(2 * (gpus - 1) / gpus * 4 * FLOATS * 1e-9)
    assert 1.0 < took / ideal < 1.1


def test_it_takes_as_long_over_switches(ring):
    slow = NVSWITCH | {"bandwidth": 0.5, "packet_bytes": 4096}
    took, ideal, _ = ring.run(small_system(4, **slow), (2, 0, 3, 1), FLOATS, 4)
    assert 1.0 < took / ideal < 1.1


@pytest.mark.long
def test_threads_change_nothing(ring):
    results = {ring.run(small_system(4, **SLOW), (0, 1, 2, 3), FLOATS, 2, threads=n)
               for n in (1, 2, 3)}  # fmt: skip
    assert len(results) == 1


def test_rings_go_over_the_widest_links(ring):
    for (system, gpus), order in ring.RINGS.items():
        links = systems.system(system, gpus).links
        pairs = zip(order, (*order[1:], order[0]))
        wide = [links[min(pair), max(pair)] for pair in pairs]
        assert sorted(order) == list(range(gpus))
        assert min(wide) == (2 if gpus == 8 else 1)


@pytest.mark.long
def test_the_program_in_cuda(repository, tmp_path):
    if not shutil.which("nvcc"):
        pytest.skip("needs nvcc, and there is none")
    source = repository / "examples" / "allreduce" / "ring.cu"
    program, out = tmp_path / "ring", tmp_path / "out"
    subprocess.run(["nvcc", "-cudart", "shared", "-arch=sm_80", "-o", program, source], check=True)
    simulator = Simulator(systems.system("DGX_A100", 2, ("sm.count=8",)), timed=True)
    with out.open("w") as file:
        end = run_program(simulator, [str(program), "1"], output=file.fileno())
    result = simulator.partial_result()
    simulator.close()
    assert (end.code, out.read_text()) == (0, "2 GPUs, 1 MiB: 0 sums are wrong\n")
    assert len(result.host.peers) == 16 and not any(copy.staged for copy in result.host.peers)
    sent = {link["link"]: link["bytes"] for link in result.links}
    assert sent["GPU 0 > switch"] == sent["switch > GPU 0"] == 1 << 20

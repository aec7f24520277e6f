"""A program in CUDA whose kernel reads the memory of another GPU: right sums, over the links."""

import shutil
import subprocess

import pytest

from lockstep.gpus import systems
from lockstep.runtime import Simulator, run_program


@pytest.fixture(scope="module")
def program(repository, tmp_path_factory):
    if not shutil.which("nvcc"):
        pytest.skip("needs nvcc, and there is none")
    source = repository / "examples" / "peer_access" / "sum.cu"
    built = tmp_path_factory.mktemp("peer_access") / "sum"
    subprocess.run(["nvcc", "-cudart", "shared", "-arch=sm_80", "-o", built, source], check=True)
    return built


@pytest.mark.long
@pytest.mark.parametrize("owner", [0, 1])
def test_its_loads_cross_the_links_to_who_has_the_array(program, tmp_path, owner):
    simulator = Simulator(systems.system("DGX_A100", 2, ("sm.count=8",)), timed=True)
    out = tmp_path / "out"
    with out.open("w") as file:
        end = run_program(simulator, [str(program), str(owner), "1"], output=file.fileno())
    result = simulator.partial_result()
    simulator.close()
    assert end.code == 0 and f"GPU 0 sums 1 MiB of GPU {owner}: 262144 of 262144" in out.read_text()
    sent = {link["link"]: (link["bytes"], link["packets"]) for link in result.links}
    lines = owner << 13
    assert sent["GPU 0 > switch"] == sent["switch > GPU 1"] == (0, lines)
    assert sent["GPU 1 > switch"] == sent["switch > GPU 0"] == (owner << 20, lines)
    (kernel,) = result.gpus[0].metrics
    assert kernel["sim__peer_load_bytes.sum"] == owner << 20

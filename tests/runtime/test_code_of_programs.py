"""Which code of a program is executed: machine code, or its module's PTX."""

import struct
from pathlib import Path

import numpy as np
import pytest

from lockstep.execution.sass import reach
from lockstep.isa.sass.binary import images_of
from lockstep.runtime.status import Status


@pytest.fixture
def variables(repository):
    """A fat binary with machine code of sm_80 and PTX: see variables.cu beside it."""
    return (repository / "tests/runtime/binaries/variables.fatbin").read_bytes()


@pytest.fixture
def without_roots(monkeypatch):
    """MUFU cannot be executed."""
    known = reach.problem

    def problem(instruction):
        return "it cannot be tested" if instruction.mnemonic == "MUFU" else known(instruction)

    monkeypatch.setattr(reach, "problem", problem)


def test_a_program_is_told_once_that_its_clocks_mean_nothing(run_python, capfd):
    text = run_python.ptx.replace("ld.param.f32 %f2, [a];", "mov.u32 %r2, %clock;")
    text = text.replace("add.f32 %f1, %f1, %f2", "cvt.rn.f32.u32 %f1, %r2")
    for launches in ("1", "2", "0"):
        run_python(f"""
module, function, place, n, a = c_void_p(), c_void_p(), c_void_p(), c_uint(1), c_float()
rt.cudaMalloc(byref(place), c_size_t(4))
cu.cuModuleLoadData(byref(module), {text!r}.encode())
cu.cuModuleGetFunction(byref(function), module, b"add")
places = (c_void_p * 3)(addressof(place), addressof(n), addressof(a))
for _ in range({launches}):
    assert cu.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, places, None) == 0
assert rt.cudaDeviceSynchronize() == 0
""")
        said = capfd.readouterr().err
        assert said.count("kernel add") == said.count("; add --at-issue") == (launches != "0")


class Program:
    """A client that uses the binary."""

    def __init__(self, client, binary):
        self.client = client
        self.module = client.call("LOAD_MODULE", binary)["module"]

    def kernel(self, name):
        return self.client.call("FIND_KERNEL", name.encode(), module=self.module)

    def launch(self, kernel, parameters, threads):
        shape = dict.fromkeys(("grid_x", "grid_y", "grid_z", "block_y", "block_z"), 1)
        shape |= {"block_x": threads, "dynamic_shared": 0, "stream": 0, "cooperative": 0}
        shape |= {"cluster_x": 0, "cluster_y": 0, "cluster_z": 0, "portable": 1}
        return self.client.call("LAUNCH", parameters, kernel=kernel["kernel"], **shape)

    def variable(self, name, count):
        found = self.client.call("FIND_VARIABLE", name.encode(), module=self.module)
        return self.client.read(found["address"], count, np.int32).tolist()


def codes(client):
    return {name: count.code for name, count in client.simulator.kernels.items()}


def test_machine_code_is_executed_where_it_can_be(client, variables):
    program = Program(client, variables)
    program.launch(program.kernel("count"), struct.pack("<i", 3), 4)
    assert program.variable("counter", 1) == [5 + 4 * 3]
    assert codes(client) == {"count": "machine code of sm_80"}


def test_a_module_that_turns_to_ptx_keeps_its_variables(client, variables, without_roots, capfd):
    program = Program(client, variables)
    count = program.kernel("count")
    program.launch(count, struct.pack("<i", 10), 2)
    roots = program.kernel("roots")
    out = client.call("ALLOCATE", size=256, kind=0)["address"]
    program.launch(roots, struct.pack("<Q", out), 2)
    values = client.read(out, 2, np.float32)
    assert values.tolist() == [5 * 2 + 10, 5 * 3 + 10]
    program.launch(count, struct.pack("<i", 100), 1)
    assert program.variable("counter", 1) == [125]
    assert codes(client) == {"count": "PTX", "roots": "PTX"}
    assert "it cannot be tested; the module's PTX is executed instead" in capfd.readouterr().err


def test_function_pointers_are_those_of_the_code_that_is_executed(client, variables, without_roots):
    program = Program(client, variables)
    out = client.call("ALLOCATE", size=256, kind=0)["address"]
    for name in ("call", "roots", "call"):
        program.launch(program.kernel(name), struct.pack("<Q", out), 2)
        if name == "call":
            assert client.read(out, 2, np.int32).tolist() == [10, 15]
    assert codes(client)["call"] == "PTX"


def test_machine_code_alone_that_cannot_be_executed_is_refused(
    client, variables, without_roots, capfd
):
    images = images_of(variables, Path("variables.fatbin"))
    program = Program(client, next(i.data for i in images if i.kind == "cubin"))
    assert program.kernel("roots") == {"status": Status.NOT_SUPPORTED}
    assert "the program has no PTX of it" in capfd.readouterr().err
    assert "status" not in program.kernel("count")

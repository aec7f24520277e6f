"""Kernels from machine code: the built-in ones against NumPy and PTX, calls, faults, refusals."""

import os
from pathlib import Path

import numpy as np
import pytest

import lockstep
from cubin_files import FOLDER, cubins
from lockstep.errors import InputError, LockstepError, WorkloadError
from lockstep.execution.sass import opcodes, translate
from lockstep.isa.sass.binary import read_cubin
from lockstep.kernels import load

ARCHITECTURES = (70, 75, 80, 90)


def spread():
    """Every program on one architecture, in turn; matrix products on all that have them.

    With LOCKSTEP_ALL_PROGRAMS=1 in the environment all are run on all.
    """
    for k, name in enumerate(cubins("sm_80")):
        own = [a for a in ARCHITECTURES if name in cubins(f"sm_{a}")]
        everywhere = name.startswith("gemm_") or "LOCKSTEP_ALL_PROGRAMS" in os.environ
        for architecture in own if everywhere else [own[k % len(own)]]:
            yield pytest.param(architecture, name, id=f"{name}-sm_{architecture}")


def run(kernel, device, module):
    checks = kernel._run(device, module, np.random.default_rng(0), kernel.small)
    checks = list(checks) if hasattr(checks, "__iter__") else [checks]
    for check in checks:
        check.verify()
    return [np.asarray(c.actual.numpy()) for c in checks], checks


@pytest.mark.long
@pytest.mark.parametrize("architecture, name", list(spread()))
def test_a_builtin_kernel_is_right_and_equals_its_ptx(architecture, name):
    kernel = load(name)
    with lockstep.Device("QV100") as device:
        actual, checks = run(kernel, device, device.load_cubin(cubins(f"sm_{architecture}")[name]))
        expected, _ = run(kernel, device, device.load_ptx(kernel.ptx))
    for mine, theirs, check in zip(actual, expected, checks, strict=True):
        if check.rtol == check.atol == 0:
            assert mine.tobytes() == theirs.tobytes()
        else:
            assert np.allclose(mine, theirs, 2 * check.rtol, 2 * check.atol, equal_nan=True)


@pytest.fixture
def calls():
    with lockstep.Device("QV100") as device:
        yield device, device.load_cubin((FOLDER / "calls.sm_80.cubin").read_bytes())


def test_function_pointers_recursion_and_variables(calls):
    device, module = calls
    lane = np.arange(32)
    values = device.array(lane.astype(np.float32))
    module["k"][1, 32](values, 10)
    called = np.where(lane & 1, lane + 1.0, lane * 2.0) + np.array([1, 2, 3, 4])[lane & 3]
    assert (values.numpy() == called).all()
    assert module.symbol("counter").numpy().view(np.int32)[0] == 5
    assert module.symbol("zeros").numpy().view(np.int32)[3] == 55


def test_a_variable_that_lies_elsewhere():
    with lockstep.Device("QV100") as device:
        place = device.zeros(100, "u4")
        code = (FOLDER / "calls.sm_80.cubin").read_bytes()
        module = device.load_cubin(code, {"zeros": place.pointer})
        module["k"][1, 32](device.zeros(32), 10)
        assert module.symbol("zeros").pointer == place.pointer
        assert place.numpy()[3] == 55


def test_the_address_of_a_parameter_may_be_taken():
    own, other = np.arange(16, dtype=np.int32) + 100, np.arange(16, dtype=np.int32)
    with lockstep.Device("A100") as device:
        out = device.zeros(32, "i4")
        kernel = device.load_cubin(FOLDER / "chosen.sm_80.cubin")["chosen"]
        kernel[1, 32](own.tobytes(), device.array(other), out)
        odd = np.arange(32) & 1
        assert np.array_equal(out.numpy(), np.arange(32) % 16 + 100 * odd)


def test_printf_and_trap(calls, capsys):
    _, module = calls
    module["pr"][1, 2](3)
    assert capsys.readouterr().out == "hello 0 4.500000\nhello 1 4.500000\n"
    with pytest.raises(LockstepError, match=r"trap; thread \(0, 0, 0\).*pc 0x180: BPT\.TRAP"):
        module["pr"][1, 1](-1)


def test_a_fault_names_the_instruction():
    with lockstep.Device("QV100") as device:
        module = device.load_cubin(cubins("sm_80")["saxpy"])
        with pytest.raises(LockstepError, match=r"invalid global read of 4 bytes.*pc 0x\w+: LDG"):
            module["saxpy"][1, 32](32, 1.0, 0, 0)


def test_a_fault_names_the_line_of_the_source(repository):
    cubin = repository / "tests/isa/sass/binary/fixtures/scale_sm70.cubin"
    with lockstep.Device("QV100") as device:
        values = device.zeros(16)
        with pytest.raises(LockstepError, match=r"read of 4 bytes.*: LDG\S* .* at /scale\.cu:8$"):
            device.load_cubin(cubin)["_Z5scaleIfEvPT_sd"][1, 32](values, 0, 1.0)


def test_what_is_not_supported_is_refused_by_name():
    data = cubins("sm_80")["saxpy"]
    (section,) = [f.code for f in read_cubin(data, Path("saxpy")).kernels]
    opcode = (0xFFF).to_bytes(2, "little")  # no instruction
    with lockstep.Device("QV100") as device:
        kernel = device.load_cubin(data.replace(section, opcode + section[2:]))["saxpy"]
        with pytest.raises(LockstepError, match=r"kernel saxpy, 0x0000 .*unknown is not supported"):
            kernel[1, 32](1, 1.0, 0, 0)


@pytest.mark.parametrize("mnemonic", ["FSETP", "HSETP2", "FSET.BF"])
def test_comparisons_that_pick_an_extremum_are_refused(mnemonic):
    assert translate.find is opcodes.find  # importing it fills the table
    known = opcodes.TABLE[mnemonic].modifiers
    assert not {"MIN", "MAX"} & known
    assert {"LT", "GEU", "NUM", "NAN"} <= known


def test_unknown_names_and_damaged_files():
    with lockstep.Device("QV100") as device:
        module = device.load_cubin(cubins("sm_80")["saxpy"])
        with pytest.raises(WorkloadError, match="has no kernel nothing; it has saxpy"):
            module["nothing"]
        with pytest.raises(InputError):
            device.load_cubin(cubins("sm_80")["saxpy"][:100])
        with pytest.raises(LockstepError, match="cannot read"):
            device.load_cubin("no such file.cubin")


def test_the_control_bits_time_machine_code():
    with lockstep.Device("QV100", timing=True) as device:
        kernel = device.load_cubin(cubins("sm_70")["saxpy"])["saxpy"]
        x, y = device.array(np.arange(64, dtype=np.float32)), device.zeros(64)
        launch = kernel[2, 32](64, 2.0, x, y)
        assert launch.cycles > 100
        program = kernel.executor(device.recording).program
        assert program.registers == kernel.function.registers
        assert program.code["stall"].any()
        assert (y.numpy() == 2 * np.arange(64)).all()

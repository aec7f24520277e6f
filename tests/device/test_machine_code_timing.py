"""Machine code is timed by its scheduling control bits, or by a scoreboard if one asks for it."""

import json

import numpy as np
import pytest

import lockstep
from lockstep.isa.instruction import NO_CONTROL
from lockstep.isa.sass.binary import read_cubin
from lockstep.isa.sass.encoding import disassemble
from lockstep.report.summary import summary

SCOREBOARD = "sm.scheduler.dependence=scoreboard"
CONTROL = "sm.scheduler.dependence=control"


@pytest.fixture
def cubin(repository):
    return repository / "tests/device/cubins/recorded.sm_80.cubin"


def run(cubin, *overrides, ctas=1):
    """The device's result, its one launch and the kernel."""
    gpu = lockstep.gpu("A100", ["sm.count=4", "launch.overhead=0", *overrides])
    with lockstep.Device(gpu, timing=True) as device:
        a, b, c = (device.array(np.ones(32 * ctas, "f4")) for _ in range(3))
        kernel = device.load_cubin(cubin)["add"]
        launch = kernel[ctas, 32](a, b, c, 32 * ctas)
        return device.result, launch, kernel.executor(device.recording).program


def test_records_have_the_control_bits_of_the_code(cubin):
    _, launch, program = run(cubin)
    bits = [i.control for i in disassemble(launch.kernel.function.code, 80)]
    for field in ("stall", "yields", "write_barrier", "read_barrier", "wait_mask"):
        assert program.code[field].tolist() == [int(getattr(b, field)) for b in bits]
    assert (program.code["stall"] != NO_CONTROL).all()
    assert program.code["stall"][:4].tolist() == [2, 4, 2, 5]
    assert program.code["write_barrier"][1] == 0 and program.code["wait_mask"][3] == 1  # S2R, IMAD


def test_the_gpu_says_which_model_is_used_and_the_result_tells(cubin, tmp_path):
    found = {}
    for name, overrides in (("auto", ()), ("control", (CONTROL,)), ("scoreboard", (SCOREBOARD,))):
        result, launch, _ = run(cubin, *overrides)
        found[name] = launch.cycles
        used = "scoreboard" if name == "scoreboard" else "control"
        assert launch.timed().dependence == used
        assert result.kernels.dependence.tolist() == [used]
        assert result.manifest["dependence"] == {used: 1}
        assert result.to_dict()["kernels"][0]["dependence"] == used
        words = {"control": "control bits"}.get(used, used)
        assert f"; dependences: {words}\n" in summary(result)
        result.save(tmp_path / name)
        manifest = json.loads((tmp_path / name / "manifest.json").read_text())
        assert manifest["dependence"] == {used: 1}
    assert found["auto"] == found["control"] > found["scoreboard"], "compilers are on the safe side"


def code_of(cubin):
    return next(f for f in read_cubin(cubin.read_bytes(), cubin).functions if f.name == "add").code


def with_stall(cubin, pc, cycles):
    """The cubin with another stall count of one instruction."""
    data, code = cubin.read_bytes(), code_of(cubin)
    word = int.from_bytes(code[pc : pc + 16], "little")
    word = word & ~(15 << 105) | cycles << 105
    return data.replace(code, code[:pc] + word.to_bytes(16, "little") + code[pc + 16 :])


def test_a_longer_stall_of_the_compiler_is_that_much_longer(cubin):
    """The first FADD, whose result the next one adds to: when it issues, all code was fetched."""
    add = next(i for i in disassemble(code_of(cubin), 80) if i.mnemonic == "FADD")
    assert add.control.stall == 4
    longer = with_stall(cubin, add.pc, 14)
    assert run(longer)[1].cycles == run(cubin)[1].cycles + 10
    assert run(longer, SCOREBOARD)[1].cycles == run(cubin, SCOREBOARD)[1].cycles


def test_ptx_has_no_control_bits(ptx):
    gpu = lockstep.gpu("A100", ["sm.count=4"])
    with lockstep.Device(gpu, timing=True) as device:
        x, y = device.zeros(32), device.zeros(32)
        launch = device.load_ptx(ptx)["axpy"][1, 32](32, 2.0, x, y)
        assert launch.timed().dependence == "scoreboard"
    with lockstep.Device(lockstep.gpu("A100", [CONTROL]), timing=True) as device:
        x, y = device.zeros(32), device.zeros(32)
        with pytest.raises(lockstep.LockstepError, match="carry no control bits; choose 'auto'"):
            device.load_ptx(ptx)["axpy"][1, 32](32, 2.0, x, y).wait()

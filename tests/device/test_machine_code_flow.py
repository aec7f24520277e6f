"""Machine code that goes where registers, tables and relocations say: ``cubins/flow.cu``."""

from pathlib import Path

import numpy as np
import pytest

import lockstep
from cubin_files import cubins
from lockstep.errors import InputError, LockstepError
from lockstep.execution.programs.program import Recording
from lockstep.isa.sass.binary import read_cubin

BUILDS = ["sm_70", "sm_75", "sm_80", "sm_90", "debug.sm_80", "linked.sm_80", "linked.sm_90"]
THREADS = 96
T = np.arange(THREADS)  # threadIdx.x


@pytest.fixture(scope="module", params=BUILDS)
def module(request):
    with lockstep.Device("QV100") as device:
        yield device.load_cubin(cubins("flow")[request.param])


@pytest.mark.long
@pytest.mark.parametrize("build", ["debug.sm_80", "linked.sm_80"])
def test_a_kernel_is_translated_with_the_functions_that_it_may_call(build):
    with lockstep.Device("QV100") as device:
        module = device.load_cubin(cubins("flow")[build])
        called = {}
        for name in ("recur", "decide", "pick"):
            program = module[name].translate(Recording.NOTHING)
            called[name] = {origin.function for origin in program.origins} - {name}
    assert called["recur"] == {"_Z9ackermannii"}
    assert called["decide"] == {"_Z6chooseii"}
    assert {"_Z5twicei", "_Z4nexti"} <= called["pick"]  # through pointers


def launch(module, name, outputs=1):
    arrays = [module.device.zeros(THREADS, "i4") for _ in range(outputs)]
    module[name][1, THREADS](*arrays)
    return [array.numpy() for array in arrays]


def steps(x):
    n = 0
    while x > 1:
        x, n = 3 * x + 1 if x & 1 else x // 2, n + 1
    return n


@pytest.mark.long
def test_virtual_functions_of_objects_on_the_heap_and_on_the_stack(module):
    square, disc = T * T, 3 * T * T
    launch(module, "make", 0)
    areas, sides, names = launch(module, "measure", 3)
    pair = np.roll(disc, 1) + np.roll(square, 2)
    made = np.select([T % 3 == 0, T % 3 == 1], [square, disc], pair)
    assert (areas == (1_000_000 * np.where(T & 1, square, disc) + made).astype("i4")).all()
    assert (sides == 10 * np.where(T & 1, 4, 0) + np.where(T % 3 == 1, 0, 4)).all()
    assert (names == T + 100).all()
    launch(module, "destroy", 0)
    assert not module.symbol("made").numpy().any()


@pytest.mark.long
def test_tables_of_functions_in_global_and_in_constant_memory(module):
    table = [lambda x: 2 * x, lambda x: x + 1, steps]
    fixed = [table[2], table[0], table[1]]
    (out,) = launch(module, "pick")
    expected = [1000 * (fixed if i & 1 else table)[i % 3](i) + fixed[i % 3](i + 1) for i in T]
    assert out.tolist() == expected


def test_a_switch_with_a_jump_table(module):
    (out,) = launch(module, "decide")
    cases = [T * 3, T ^ 5, T - 100, ~T, T << 3, T * T, T // 7, T % 13]
    assert (out == np.select([k == T % 9 for k in range(8)], cases, -1)).all()


def test_a_function_that_calls_itself(module):
    (out,) = launch(module, "recur")
    assert (out == 2 * (T % 8) + 3).all()


def test_a_relocation_that_is_not_known_is_refused(monkeypatch):
    from lockstep.isa.sass.binary import relocation

    monkeypatch.delitem(relocation.FIELDS, 58)
    problem = r"section \.text\.\w+: relocation 58 of \w+ is not"
    with lockstep.Device("QV100") as device, pytest.raises(InputError, match=problem):
        device.load_cubin(cubins("flow")["linked.sm_80"])


def test_a_jump_to_where_there_is_no_code_is_refused():
    data = cubins("flow")["sm_80"]
    code = next(f for f in read_cubin(data, Path("flow")).functions if f.name == "decide").code
    end = code.index(b"\x4d\x79\0\0")  # EXIT
    branch = 0x000FEA00_03800000_00010000_00007947.to_bytes(16, "little")  # 64 KB ahead
    with lockstep.Device("QV100") as device:
        module = device.load_cubin(data.replace(code, code[:end] + branch + code[end + 16 :]))
        with pytest.raises(LockstepError, match=r"decide, 0x\w+ BRA 0x10\w+: there is no code"):
            launch(module, "decide")


def test_a_uniform_branch_is_taken_by_all_lanes_or_none(repository):
    code = (repository / "tests/device/cubins/unanimous.sm_75.cubin").read_bytes()
    text = "".join(chr((k * 37) % 0x7F + 1 + 0x700 * (k % 3)) for k in range(200))
    encoded = np.frombuffer(text.encode(), np.uint8)
    with lockstep.Device("RTX2060") as device:
        points, count = device.zeros(256, "u4"), device.zeros(1, "i4")
        launch = device.load_cubin(code)["decode"][1, 64]
        launch(device.array(encoded), len(encoded), points, count)
        assert count.numpy().tolist() == [len(text)]
        assert "".join(map(chr, points.numpy()[: len(text)])) == text


@pytest.mark.parametrize(
    "options", [{"timing": False}, {"timing": True}, {"timing": True, "at_issue": True}]
)
def test_lanes_leave_for_which_guard_and_operand_of_an_exit_hold(repository, options):
    code = (repository / "tests/device/cubins/leaving.sm_80.cubin").read_bytes()
    lanes = np.arange(32)
    stay = (lanes % 3 == 0) | (lanes % 7 == 2)
    with lockstep.Device("A100", **{"timing": True} | options) as device:
        out = device.zeros(32, "u4")
        device.load_cubin(code)["either"][1, 32](out)
        assert out.numpy().tolist() == np.where(stay, sum(1 << lanes[stay]), 0xFFFFFFFF).tolist()


def test_a_predicate_that_chooses_who_waits_for_others_is_refused():
    data = cubins("flow")["sm_80"]
    code = next(f for f in read_cubin(data, Path("flow")).functions if f.name == "recur").code
    at = next(k for k in range(0, len(code), 16) if code[k : k + 2] == b"\x41\x79")  # BSYNC
    chosen = bytearray(code)
    chosen[at + 11] &= 0xFC  # P1 in the place of PT
    with lockstep.Device("QV100") as device:
        module = device.load_cubin(data.replace(code, bytes(chosen)))
        with pytest.raises(LockstepError, match=r"BSYNC P1, B\d: this form of it"):
            launch(module, "recur")


def test_a_stack_grows_by_what_a_launch_says(repository):
    code = (repository / "tests/device/cubins/taken.sm_80.cubin").read_bytes()
    with lockstep.Device("A100", timing=False) as device:
        taken = device.load_cubin(code)["taken"]
        out = device.zeros(THREADS, "i4")
        taken[1, THREADS](out, 3000)
        assert (out.numpy() == 3000 * 2999 // 2 * T).all()
        with pytest.raises(lockstep.LaunchError, match=r"local write .* beyond its 16384 bytes"):
            taken[1, 1](out, 5000)


def test_code_for_debuggers_finds_the_shared_memory_that_is_reserved(repository):
    code = (repository / "tests/device/cubins/reserved.sm_80.cubin").read_bytes()
    with lockstep.Device("A100", timing=False) as device:
        out = device.zeros(32, "i4")
        device.load_cubin(code)["reserved"][1, 32](out)
        assert out.numpy().tolist() == list(range(100, 132))


@pytest.mark.parametrize("options", [{"timing": False}, {"at_issue": True}])
def test_lanes_keep_uniform_registers_while_others_of_their_warp_run(repository, options):
    code = (repository / "tests/device/cubins/tickets.sm_80.cubin").read_bytes()
    threads = np.arange(64)
    with lockstep.Device("A100", **{"timing": True} | options) as device:
        out = device.zeros(64, "u4")
        device.load_cubin(code)["tickets"][1, 64](device.zeros(128, "u4"), out)
        own = out.numpy() // np.where(threads % 3, 2, 3)
        assert sorted(own.tolist()) == threads.tolist()


def test_a_fence_of_aliases_keeps_predicates(repository):
    """Around it a register holds all of them: an instruction without a mask gives them back."""
    code = (repository / "tests/device/cubins/fences.sm_90.cubin").read_bytes()
    with lockstep.Device("H100") as device:
        out = device.zeros(3, "i4")
        device.load_cubin(code)["fences"][1, 1](out)
        assert out.numpy().tolist() == [1, 2, 3]

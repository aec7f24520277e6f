"""Routines: functions that modules share, and whose names tell them apart."""

import re

import pytest
from llvmlite import ir

import lockstep
from cubin_files import cubins
from lockstep import kernels
from lockstep.execution.checks.kinds import Check
from lockstep.execution.lanes.module import LaneModule
from lockstep.execution.programs import assemblers, kept, native
from lockstep.execution.programs.program import Recording

KIND = ir.FunctionType(ir.IntType(64), [])
RECORDINGS = (
    Recording.NOTHING,
    Recording.EVERYTHING,
    Recording.AT_ISSUE | Recording.PROFILE,
    Recording.RACES | Recording.INIT,
    Recording.RACES,
)


def by_this_process(monkeypatch):
    """Let no other process assemble anything."""
    monkeypatch.setattr(assemblers, "_assemblers", assemblers.Assemblers())
    monkeypatch.setattr(assemblers, "_wanted", lambda: 0)


def returns(number):
    """Give a function the body ``return number``."""

    def emit(function):
        ir.IRBuilder(function.append_basic_block()).ret(ir.Constant(ir.IntType(64), number))

    return emit


@pytest.fixture
def made(monkeypatch):
    """Texts of modules that were compiled, in their order; nothing is kept from before."""
    texts = []
    monkeypatch.setattr(native, "assemble", lambda text, soon: (texts.append(text), b"code")[1])
    by_this_process(monkeypatch)
    monkeypatch.setattr(kept, "_routines", {})
    monkeypatch.setattr(kept, "objects", lambda parts, make: make())
    return texts


def test_a_routine_is_compiled_once_for_all_modules(made):
    for _ in range(2):
        module = LaneModule(32)
        for _ in range(2):
            module.routine("one", KIND, returns(1))
        assert module.compiled().routines == ("lanes32.one",)
    routine, first, second = made
    assert "define" in routine and "ret i64 1" in routine
    assert first == second and "define" not in first


def test_what_modules_look_for_makes_other_routines(made):
    modules = [
        LaneModule(32),
        LaneModule(32, Check.INIT),
        LaneModule(32, Check.RACES, 2),
        LaneModule(32, Check.RACES, 0),
        LaneModule(32, Check.RACES | Check.INIT, 0),
    ]
    symbols = {module.routine("one", KIND, returns(1)).name for module in modules}
    assert len(symbols) == len(made) == len(modules)


def test_warps_of_another_width_have_routines_of_their_own(made):
    symbols = {LaneModule(lanes).routine("one", KIND, returns(1)).name for lanes in (32, 64)}
    assert symbols == {"lanes32.one", "lanes64.one"}


def test_widths_for_which_there_is_no_code_are_refused():
    with pytest.raises(ValueError, match="warps of 48 lanes"):
        LaneModule(48)


def test_a_routine_knows_those_that_it_calls(made):
    def calls(function):
        inner = function.module.routine("inner", KIND, returns(2))
        e = ir.IRBuilder(function.append_basic_block())
        e.ret(e.call(inner, []))

    module = LaneModule(32)
    module.routine("outer", KIND, calls)
    assert module.compiled().routines == ("lanes32.outer",)
    assert kept.routine("lanes32.outer").routines == ("lanes32.inner",)
    assert kept.routine("lanes32.inner").routines == ()


@pytest.fixture
def bodies(monkeypatch):
    """Function that translates a kernel; texts of each routine by symbol, made at each call."""
    found = {}
    monkeypatch.setattr(native, "assemble", lambda text, soon: text.encode())
    by_this_process(monkeypatch)
    monkeypatch.setattr(kept, "program", lambda parts, make: make())

    def routine(symbol, make):
        code = make()
        found.setdefault(symbol, []).append(code)
        return code

    monkeypatch.setattr(kept, "routine", routine)
    return found


@pytest.mark.long
def test_one_name_is_one_body_whatever_kernel_asks_for_it(bodies):
    translated = 0
    with lockstep.Device("H100") as device:
        modules = [device.load_ptx(kernels.load(n).ptx) for n in kernels.names()]
        for file in ("sm_90", "barriers"):
            modules += [device.load_cubin(c) for c in list(cubins(file).values())[::9]]
        for number, module in enumerate(modules):
            for k, name in enumerate(module.entries[:2]):
                module[name].translate(RECORDINGS[(number + k) % len(RECORDINGS)])
                translated += 1
    assert translated > 30
    assert sum(len(codes) > 1 for codes in bodies.values()) > 20
    for symbol, codes in bodies.items():
        assert len(set(codes)) == 1, symbol
        assert re.search(rf'define .*@"{re.escape(symbol)}"', codes[0].files[0].code.decode())

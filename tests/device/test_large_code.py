"""Machine code that is compiled in parts: when it is reached, and once for kernels that share it.

What is large is made small here, so that programs of a few functions come in many parts.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import lockstep
from lockstep.execution.programs import code, kept, native, parts
from lockstep.execution.programs.program import Objects, Recording
from lockstep.execution.programs.stored import Unreadable, unpack
from signals_from_code import Interrupted

CUBIN = Path(__file__).parent / "cubins" / "shared.sm_80.cubin"
THREADS = 64
NEVER = 0xFFFFFFFF  # as a limit, which no value is


@pytest.fixture
def store(monkeypatch):
    """Stands for the store on disk: what is kept of translations, by key."""
    found = {}
    here = SimpleNamespace(
        get=lambda kind, key: found.get(key),
        put=lambda kind, key, content: found.update({key: content}),
    )
    monkeypatch.setattr(kept, "store", here)
    return found


@pytest.fixture
def compiled(monkeypatch):
    """Texts that were compiled, but for routines."""
    texts, assemble = [], native.assemble

    def noted(text, soon=False):
        if 'define i64 @"block0"' in text:
            texts.append(text)
        return assemble(text, soon)

    monkeypatch.setattr(native, "assemble", noted)
    return texts


@pytest.fixture
def small(monkeypatch, store):
    """Every function is large."""
    monkeypatch.setattr(parts, "WHOLE", 0)


def is_part(content):
    """Whether what is kept is the object code of a part."""
    try:
        return any("block0" in file.functions for file in unpack(content, Objects).files)
    except Unreadable:
        return False


TABLE = np.arange(16, dtype=np.uint32) * 2654435761 % (1 << 31)


def mix(x, y):
    for k in range(y & 7):
        x = (x * 5 + k) & 0xFFFFFFFF
    return x ^ x >> 7


def pick(x):
    return int(TABLE[x & 15]) if x & 1 else mix(x, 3)


FIRST = [pick(mix(i, i)) for i in range(THREADS)]
SECOND = [pick(mix(i, i + 1)) // 10007 + 1 for i in range(THREADS)][::-1]


def launch(device, name, limit=NEVER):
    module = device.load_cubin(CUBIN)
    out = device.zeros(THREADS, "u4")
    result = module[name][1, THREADS](out, device.array(TABLE), np.uint32(limit))
    return out.numpy().tolist(), result


def test_functions_are_compiled_when_they_are_reached_and_once_for_all_kernels(small, compiled):
    with lockstep.Device("A100") as device:
        module = device.load_cubin(CUBIN)
        assert len(module["first"].translate(Recording.NOTHING).parts) == 4
        assert not compiled
        assert launch(device, "first")[0] == FIRST
        assert len(compiled) == 3  # the kernel, mix and pick
        assert launch(device, "second")[0] == SECOND
        assert len(compiled) == 5  # this kernel, and what the other one did not reach


def test_what_another_run_has_compiled_is_not_compiled_again(small, compiled):
    for _ in range(2):
        with lockstep.Device("A100") as device:
            assert launch(device, "second")[0] == SECOND
    assert len(compiled) == 4


def test_a_part_that_is_gone_is_compiled_again(small, store, compiled):
    with lockstep.Device("A100") as device:
        launch(device, "first")
    gone = [key for key, content in store.items() if is_part(content)][:2]
    for key in gone:
        del store[key]
    with lockstep.Device("A100") as device:
        assert launch(device, "first")[0] == FIRST
    assert len(compiled) == 3 + 2


def test_large_functions_come_in_parts_of_their_own(small, compiled, monkeypatch):
    monkeypatch.setattr(parts, "PART", 4)
    with lockstep.Device("A100") as device:
        assert launch(device, "first")[0] == FIRST
        several = device.load_cubin(CUBIN)["first"].translate(Recording.NOTHING).parts
    assert [p.first for p in several[1:]] == [p.end for p in several[:-1]]
    assert 4 < len(compiled) < len(several)


@pytest.mark.parametrize("at_issue", [False, True])
def test_time_and_counters_do_not_depend_on_parts(store, monkeypatch, at_issue):
    def told(whole):
        store.clear()
        monkeypatch.setattr(parts, "WHOLE", whole)
        gpu = lockstep.gpu("A100", ["sm.count=4"])
        with lockstep.Device(gpu, timing=True, at_issue=at_issue, profile=True) as device:
            out, result = launch(device, "second")
            assert out == SECOND
            return result.timed().sm.tobytes(), result.profile

    assert told(0) == told(1 << 20)


def test_a_wrong_access_is_told_as_in_one_piece(store, monkeypatch):
    def told(whole):
        store.clear()
        monkeypatch.setattr(parts, "WHOLE", whole)
        with lockstep.Device("A100") as device:
            out = device.zeros(THREADS, "u4")
            with pytest.raises(lockstep.LockstepError) as caught:
                device.load_cubin(CUBIN)["first"][1, THREADS](out, np.uint64(8), np.uint32(0))
        return str(caught.value)

    assert "thread (1, 0, 0)" in told(0)
    assert told(0) == told(1 << 20)


@pytest.mark.parametrize("problem", [lockstep.LockstepError("no room"), KeyboardInterrupt()])
def test_what_ends_the_compilation_of_a_part_ends_the_launch(small, monkeypatch, problem):
    def assemble(text, soon=False):
        raise problem

    with lockstep.Device("A100") as device:
        with monkeypatch.context() as patch:
            patch.setattr(native, "assemble", assemble)
            with pytest.raises(type(problem)) as caught:
                launch(device, "first")
        assert caught.value is problem
        assert launch(device, "first")[0] == FIRST


def test_an_interrupt_right_before_a_part_is_fetched_ends_the_launch(small, monkeypatch):
    """While blocks run Python does nothing, and hears of it when the next one is asked for."""
    prepare = code.BlockCode.__init__

    def interrupted(self, program):
        prepare(self, program)
        self.interrupted = Interrupted(self.fetch)
        self.fetch = self.interrupted.address

    with lockstep.Device("A100") as device:
        with monkeypatch.context() as patch:
            patch.setattr(code.BlockCode, "__init__", interrupted)
            with pytest.raises(KeyboardInterrupt) as caught:
                launch(device, "first")
        assert caught.value.__notes__[0].startswith("kernel first ran: ")
    with lockstep.Device("A100") as device:
        assert launch(device, "first")[0] == FIRST

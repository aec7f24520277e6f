"""What was found out about code is kept, and found again by later runs."""

import pytest

import lockstep
from lockstep.errors import InputError
from lockstep.execution.programs import kept

GOOD = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry nothing()
{
    ret;
}
"""
TANGENT = """
    .reg .f32 %f;
    mov.f32 %f, 0f3f800000;
    tanh.approx.f32 %f, %f;
    ret;"""
BAD = GOOD.replace("    ret;", "    frobnicate;\n    ret;")


@pytest.fixture
def store(monkeypatch):
    """Stands for the store on disk: what is kept, by key."""
    kept_here = {}
    monkeypatch.setattr(kept.store, "get", lambda kind, key: kept_here.get((kind, key)))
    monkeypatch.setattr(
        kept.store, "put", lambda kind, key, content: kept_here.update({(kind, key): content})
    )
    return kept_here


def test_what_found_nothing_wrong_is_not_done_again(store):
    done = []
    for parts in (("a", 1), ("a", 1), ("a", 2), ("b", 1)):
        kept.once(parts, lambda parts=parts: done.append(parts))
    assert done == [("a", 1), ("a", 2), ("b", 1)]


def test_what_found_something_wrong_is_done_again(store):
    def wrong():
        raise InputError("k.ptx", "line 1", "wrong")

    for _ in range(2):
        with pytest.raises(InputError):
            kept.once(("a",), wrong)
    assert not store


def test_a_module_is_checked_once_and_one_that_is_refused_each_time(store, monkeypatch):
    from lockstep.execution.ptx import check

    looked, look = [], check.check
    monkeypatch.setattr(check, "check", lambda *a: (looked.append(a), look(*a)))
    with lockstep.Device("QV100") as device:
        for _ in range(2):
            device.load_ptx(GOOD)
        assert len(looked) == 1
        for _ in range(2):
            with pytest.raises(InputError, match="frobnicate"):
                device.load_ptx(BAD)
        assert len(looked) == 3
    with lockstep.Device("H100") as device:  # whose CTAs can have more shared memory
        device.load_ptx(GOOD)
    assert len(looked) == 4


def test_the_source_of_the_package_is_part_of_what_is_kept(store, monkeypatch):
    done = []
    kept.once(("a",), lambda: done.append(1))
    monkeypatch.setattr(kept, "_sources", lambda: "edited")
    kept.once(("a",), lambda: done.append(2))
    assert done == [1, 2]


def test_a_program_whose_routines_are_gone_is_made_again(store, monkeypatch):
    from lockstep.execution.programs import native

    monkeypatch.setattr(kept, "_routines", {})
    compiled, assemble = [], native.assemble
    monkeypatch.setattr(
        native, "assemble", lambda text, soon: (compiled.append(text), assemble(text, soon))[1]
    )
    text = GOOD.replace("    ret;", TANGENT)

    def translated():
        compiled.clear()
        with lockstep.Device("QV100") as device:
            device.load_ptx(text)["nothing"][1, 32]()
        return len(compiled)

    assert translated() == 2  # the kernel, and the tangent
    kept._routines.clear()  # as in another process
    assert translated() == 0
    kept._routines.clear()
    routine = ("translation", kept._key(("objects", "routine", "lanes32.tanh_f32")))
    assert store.pop(routine)
    assert translated() == 2
    assert routine in store

"""Routines in the process: loaded once, with those that they call."""

import ctypes

import pytest

from lockstep.execution.programs import kept, native, routines
from lockstep.execution.programs.program import ObjectFile, Objects

SEVEN = """
define i64 @"lanes.seven"() {
  ret i64 7
}
"""
MORE = """
declare i64 @"lanes.seven"()
define i64 @"lanes.more"() {
  %one = call i64 @"lanes.seven"()
  %two = add i64 %one, 1
  ret i64 %two
}
"""


@pytest.fixture
def two(monkeypatch):
    """Symbols of two routines of which one calls the other; nothing else is there."""
    monkeypatch.setattr(routines, "_loaded", {})
    code = {
        "lanes.seven": Objects((ObjectFile(native.assemble(SEVEN), ("lanes.seven",)),)),
        "lanes.more": Objects(
            (ObjectFile(native.assemble(MORE), ("lanes.more",)),), ("lanes.seven",)
        ),
    }
    monkeypatch.setattr(kept, "_routines", code)
    return tuple(code)


def test_a_routine_calls_another(two):
    found = routines.addresses(["lanes.more"])
    assert ctypes.CFUNCTYPE(ctypes.c_int64)(found["lanes.more"])() == 8


def test_each_is_loaded_once(two, monkeypatch):
    first = routines.addresses(two)
    monkeypatch.setattr(kept, "_routines", {})
    assert routines.addresses(two[::-1]) == first
    assert set(routines._loaded) == set(two)

"""Who writes what: each field of a warp and of a CTA belongs to one file."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from lockstep.model.core import state

MODEL = Path(state.__file__).parents[1]
RECORDS = {
    "warps": state.WARP_STATE,
    "ctas": state.CTA_STATE,
    "looks": state.LOOK,
    "subcores": state.SUBCORE,
    "sms": state.SM_STATE,
    "accesses": state.ACCESS,
}
"""Arrays of records, and what they hold."""

ARGUMENTS = {"warp": "warps", "cta": "ctas", "look": "looks", "sub": "subcores", "sm": "sms"}
ARGUMENTS["access"] = "accesses"
"""What functions call a record that they are given."""

STAGES = {
    "eligibility": "issue",
    "memory_queue": "memory_pipeline",
}  # files that are parts of a stage, which writes as one
SEVERAL = {
    "looks.awaits": {"issue", "launch"},
    "looks.reason": {"issue", "launch", "scheduler"},
    "looks.wake": {"barrier", "cta", "issue", "launch", "memory_pipeline", "scheduler"},
    "looks.place": {"cta", "launch"},
    "subcores.awaiting": {"barrier", "cta", "scheduler"},
    "subcores.count": {"cta", "launch"},
    "subcores.last": {"cta", "issue"},
    "subcores.next": {"barrier", "launch", "memory_pipeline", "scheduler"},
    "subcores.room_wanted": {"issue", "memory_pipeline"},
    "sms.blocked": {"accounting", "memory_pipeline"},
    "sms.free_access": {"done", "memory_pipeline"},
    "sms.memory_next": {"cu", "done", "memory_pipeline", "sm"},
    "sms.no_credit": {"accounting", "cu", "port", "sm"},
    "accesses.lanes": {"bulk", "memory_pipeline"},
    "accesses.latest": {"memory_pipeline", "port"},
    "accesses.next": {"bulk", "done"},
    "accesses.remaining": {"bulk", "memory_pipeline", "port"},
}
"""Fields that more than one file writes: a list that only gets shorter."""


def array_of(node):
    """The name of the array that an expression takes an element of, if it does."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else None


def names_in(function):
    """Which arrays the records are from that a function has names for."""
    found = {a.arg: ARGUMENTS[a.arg] for a in function.args.args if a.arg in ARGUMENTS}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = list(zip(target.elts, node.value.elts))
                for name, value in pairs:
                    if isinstance(name, ast.Name) and isinstance(value, ast.Subscript):
                        found[name.id] = array_of(value)
    return found


def written_by(function):
    """(array, field) of what a function writes."""
    known = names_in(function)
    for node in ast.walk(function):
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AugAssign):
            targets = [node.target]
        for target in targets:
            for one in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(one, ast.Subscript):  # an element of a field that is an array
                    one = one.value
                if isinstance(one, ast.Attribute):
                    owner = one.value
                    if isinstance(owner, ast.Name):
                        yield known.get(owner.id), one.attr
                    elif isinstance(owner, ast.Subscript):
                        yield array_of(owner), one.attr


@cache
def writers():
    """The files that write each field.

    Those of ``model/warming`` are not among them: they take launches through the SMs' records while
    no SM runs.
    """
    found = defaultdict(set)
    for file in MODEL.rglob("*.py"):
        if file.parent.name == "warming":
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef):
                for array, field in written_by(node):
                    if array in RECORDS and field in RECORDS[array].names:
                        found[f"{array}.{field}"].add(STAGES.get(file.stem, file.stem))
    return found


def test_nothing_that_runs_uses_what_warms():
    for file in [*MODEL.glob("*.py"), *MODEL.glob("[!w]*/**/*.py")]:
        assert "model.warming" not in file.read_text(), file


@pytest.mark.parametrize("array", ["warps", "ctas"])
def test_each_field_of_a_warp_and_of_a_cta_has_one_writer(array):
    ours = {field: files for field, files in writers().items() if field.startswith(array)}
    assert len(ours) > 15, "the search finds what is written"
    assert {field: files for field, files in ours.items() if len(files) > 1} == {}


def test_no_other_field_gets_another_writer():
    several = {field: files for field, files in writers().items() if len(files) > 1}
    assert [(f, files) for f, files in several.items() if files - SEVERAL.get(f, set())] == []


def test_the_list_names_nobody_who_writes_no_more():
    assert [(f, files) for f, files in SEVERAL.items() if files - writers()[f]] == []


def test_every_field_is_written_by_somebody():
    """What nobody writes nobody needs; places that only fill a record up are called so."""
    for array, kind in RECORDS.items():
        for name in kind.names:
            assert writers()[f"{array}.{name}"] or name == "spare", f"{array}.{name}"

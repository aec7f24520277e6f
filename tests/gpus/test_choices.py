"""Names that parameters choose from: one list each, which all that refer to them follow."""

import ast
from pathlib import Path
from typing import Annotated, Literal, get_args, get_origin, get_type_hints

import msgspec
import pytest

import lockstep
from lockstep import kernels, studies
from lockstep.errors import LockstepError
from lockstep.frontend.accelsim import config, config_memory
from lockstep.gpus import choices, library
from lockstep.gpus.spec import GPU
from lockstep.gpus.system import SystemSpec
from lockstep.model.cache import slice_hash, tags
from lockstep.model.dram import standard
from lockstep.model.dram.state import SCHEDULERS
from lockstep.model.sm.scheduler import POLICIES
from lockstep.policies import select

SOURCE = Path(lockstep.__file__).parent
LISTS = {
    name: get_args(kind) for name, kind in vars(choices).items() if get_origin(kind) is Literal
}


def parameters(kind=GPU, prefix=""):
    """The type of each parameter of a specification, by dotted name."""
    for name, hint in get_type_hints(kind, include_extras=True).items():
        inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
        members = [t for t in (inner, *get_args(inner)) if isinstance(t, type)]
        groups = [t for t in members if issubclass(t, msgspec.Struct)]
        for group in groups:
            yield from parameters(group, f"{prefix}{name}.")
        if not groups:
            yield prefix + name, inner


CHOSEN = {
    name: get_args(kind)
    for name, kind in (*parameters(), *parameters(SystemSpec))
    if get_origin(kind) is Literal
}


def test_every_parameter_chooses_from_a_list_of_choices():
    assert len(CHOSEN) >= 17
    assert set(CHOSEN.values()) == set(LISTS.values())
    written = [f for f in SOURCE.joinpath("gpus").glob("*.py") if "Literal[" in f.read_text()]
    assert [f.name for f in written] == ["choices.py"]


@pytest.mark.parametrize(
    ("table", "choice"),
    [
        (POLICIES, choices.WarpScheduler),
        (tags.REPLACEMENT, choices.Replacement),
        (slice_hash.KINDS, choices.IndexHash),
        (SCHEDULERS, choices.DramScheduler),
    ],
)
def test_the_model_has_a_number_of_its_own_for_each_name(table, choice):
    assert set(table) - {"user"} == set(get_args(choice))
    assert len(set(table.values())) == len(table)


def test_a_name_without_a_constant_is_an_error():
    assert choices.numbered(Literal["a", "b"], {"A": 3, "B": 1}) == {"a": 3, "b": 1}
    with pytest.raises(KeyError, match="B"):
        choices.numbered(Literal["a", "b"], {"A": 3})


def comparisons():
    """(file, attribute, text) of each ``x.attribute == "text"`` in what reads specifications."""
    for folder in ("engine", "gpus", "metrics", "model", "tuning"):
        for file in SOURCE.joinpath(folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                match node:
                    case ast.Compare(
                        left=ast.Attribute(attr=name), comparators=[ast.Constant(value=str(text))]
                    ):
                        yield file.name, name, text


def test_who_compares_with_a_name_compares_with_one_that_there_is():
    names: dict[str, set] = {}
    for path, values in CHOSEN.items():
        names.setdefault(path.rpartition(".")[2], set()).update(values)
    found = [(f, name, text) for f, name, text in comparisons() if name in names]
    assert len(found) >= 12
    assert [c for c in found if c[2] not in names[c[1]]] == []


def test_imported_configurations_name_what_there_is():
    assert set(config.SCHEDULERS.values()) <= set(get_args(choices.WarpScheduler))
    assert set(config_memory.REPLACEMENT.values()) <= set(get_args(choices.Replacement))


def apply(text):
    return lambda: library.apply(library.gpu("QV100"), [text])


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (apply("sm.scheduler.policy=gtoo"), "expected one of .*; did you mean gto"),
        (apply("l2.slice_hash=polly"), "expected one of .*; did you mean ipoly?"),
        (apply("sm.units.fp3.lanes=4"), "expected one of .*; did you mean fp32?"),
        (apply("sm.cuont=4"), "no parameter is named 'sm.cuont'; did you mean sm.count"),
        (lambda: library.gpu("QV10"), "no GPU is named 'QV10'; did you mean QV100"),
        (lambda: standard.load("HBM4"), "expected one of .*; did you mean HBM"),
        (lambda: select({"schedular": None}), "there is no policy .*; did you mean scheduler"),
        (lambda: kernels.load("saxpi"), "no built-in kernel 'saxpi'; did you mean saxpy"),
        (lambda: studies.find("coalescr"), "no study is named 'coalescr'; did you mean coalescer"),
    ],
)
def test_an_unknown_name_is_one_line_with_the_nearest_ones(use, message):
    with pytest.raises(LockstepError, match=message) as caught:
        use()
    assert "\n" not in str(caught.value)


def test_what_is_like_no_name_gets_no_suggestion():
    for text in ("l1.replacement=qqqq", "dram.page=17"):
        with pytest.raises(LockstepError) as caught:
            library.apply(library.gpu("QV100"), [text])
        assert "did you mean" not in str(caught.value)

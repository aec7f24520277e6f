"""The parameters of a specification by dotted name."""

import contextlib
from typing import get_args, get_type_hints

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect

from lockstep.errors import SpecError
from lockstep.gpus import fields, library
from lockstep.gpus.sm import SM
from lockstep.gpus.spec import GPU
from lockstep.isa.instruction import WARP_SIZES


@pytest.mark.parametrize("name", library.names())
def test_building_a_flat_table_gives_the_gpu_back(name):
    gpu = library.gpu(name)
    table = fields.flatten(gpu)
    assert fields.build(name, table) == gpu
    assert any(path.endswith(".operations.FP32") for path in table)


def test_every_parameter_but_the_names_is_documented_in_the_specification():
    undocumented = []

    def visit(kind, path):
        for field in kind.fields:
            inner = field.type.type if isinstance(field.type, inspect.Metadata) else field.type
            notes = getattr(field.type, "extra_json_schema", None) or {}
            if isinstance(inner, inspect.StructType):
                visit(inner, f"{path}{field.name}.")
            elif isinstance(getattr(inner, "item_type", None), inspect.StructType):
                visit(inner.item_type, f"{path}{field.name}.")
            elif not notes.get("description"):
                undocumented.append(path + field.name)

    visit(inspect.type_info(GPU), "")
    assert undocumented == ["name", "sm.units.name"]


def test_a_missing_parameter_is_named_with_what_it_may_hold():
    table = fields.flatten(library.gpu("QV100"))
    del table["l1.latency"]
    with pytest.raises(SpecError, match=r"l1\.latency is missing: expected an integer from 2"):
        fields.build("x", table)
    table = fields.flatten(library.gpu("QV100"))
    del table["sm.units.fp32.lanes"]
    with pytest.raises(SpecError, match=r"sm\.units\.fp32\.lanes is missing"):
        fields.build("x", table)


def test_ranges_are_inclusive():
    assert fields.accept("sm.count", 1) == 1
    assert fields.accept("sm.count", "4096") == 4096
    for value in (0, 4097):
        with pytest.raises(SpecError):
            fields.accept("sm.count", value)


def test_a_warp_has_one_of_the_sizes_that_instructions_know():
    assert get_args(get_args(get_type_hints(SM, include_extras=True)["warp_size"])[0]) == WARP_SIZES
    for value in (64, "64", "0x40", np.int64(64)):
        assert fields.accept("sm.warp_size", value) == 64
    for value in (48, "33", "", True, 64.5, None, (32,)):
        with pytest.raises(
            SpecError, match=r"sm\.warp_size = .*: expected one of 32, 64 \(threads"
        ):
            fields.accept("sm.warp_size", value)


def test_a_parameter_has_unit_range_and_meaning():
    found = fields.parameter("launch.cta_interval")
    assert (found.unit, found.meaning) == ("core cycles", "between two CTA dispatches, GPU-wide")
    assert found.expected == "a number from 0.01 to 4096 (core cycles)"
    assert fields.parameter("sm.units.any.operations.FP32").range == "an integer from 1 to 4096"


ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.binary(),
    st.lists(st.one_of(st.integers(), st.text(max_size=3))), st.dictionaries(st.text(), st.none()),
)  # fmt: skip


@given(st.sampled_from(sorted(fields.flatten(library.gpu("QV100")))), ANYTHING)
def test_accept_returns_what_it_accepts_again_or_raises_spec_error(path, value):
    try:
        once = fields.accept(path, value)
    except SpecError as error:
        assert str(error).startswith(f"{path} = ")
        assert "\n" not in str(error).replace(str(value), "")
    else:
        assert fields.accept(path, once) == once


@given(st.text(max_size=30))
def test_any_name_is_a_parameter_or_a_spec_error(path):
    with contextlib.suppress(SpecError):
        fields.parameter(path)

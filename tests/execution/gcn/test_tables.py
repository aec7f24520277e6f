"""Tables of arithmetic against that of the ISA: the same names, operands and results."""

import pytest

from lockstep.execution.gcn.scalar import SCALAR
from lockstep.execution.gcn.vector import VECTOR
from lockstep.execution.lanes.types import F32, F64, I32, I64, PRED
from lockstep.isa.gcn.instruction import Format
from lockstep.isa.gcn.operations import OPERATIONS

VECTOR_FORMATS = (Format.VOP1, Format.VOP2, Format.VOPC, Format.VOP3A, Format.VOP3B)
SCALAR_FORMATS = (Format.SOP1, Format.SOP2, Format.SOPC, Format.SOPK)
NO_ARITHMETIC = {
    "between lanes": ("v_readfirstlane_b32", "v_readlane_b32", "v_writelane_b32"),
    "registers by number": (
        "v_movreld_b32", "v_movrels_b32", "v_movrelsd_b32",
        "s_movreld_b32", "s_movreld_b64", "s_movrels_b32", "s_movrels_b64",
    ),
    "EXEC": tuple(
        f"s_{word}_saveexec_b64"
        for word in ("and", "or", "xor", "andn2", "orn2", "nand", "nor", "xnor")
    ),
    "program counter": (
        "s_getpc_b64", "s_setpc_b64", "s_swappc_b64", "s_rfe_b64",
        "s_cbranch_g_fork", "s_cbranch_i_fork", "s_cbranch_join",
    ),
    "state of the wavefront": (
        "s_getreg_b32", "s_setreg_b32", "s_setreg_imm32_b32", "s_setvskip", "v_clrexcp",
    ),
    "nothing": ("v_nop",),
}  # fmt: skip
TYPES = {"i32": I32, "i64": I64, "f32": F32, "f64": F64, "mask": PRED}
TYPES |= {"imm": I32, "literal": F32}


@pytest.mark.parametrize("formats, table", [(VECTOR_FORMATS, VECTOR), (SCALAR_FORMATS, SCALAR)])
def test_names_are_those_of_the_isa(formats, table):
    reasons = {name for names in NO_ARITHMETIC.values() for name in names}
    names = {o.name for o in OPERATIONS.values() if o.format in formats}
    assert reasons <= {o.name for o in OPERATIONS.values()}
    assert set(table) == names - reasons


@pytest.mark.parametrize("formats, table", [(VECTOR_FORMATS, VECTOR), (SCALAR_FORMATS, SCALAR)])
def test_operands_and_results_are_those_of_the_isa(formats, table):
    """Masks of lanes and SCC are predicates, and behind the rest if nobody names them."""
    different = []
    for operation in OPERATIONS.values():
        arithmetic = table.get(operation.name) if operation.format in formats else None
        if arithmetic is None:
            continue
        sources = [TYPES[s.type] for s in operation.sources] + [PRED] * len(operation.reads)
        results = [TYPES[r.type] for r in operation.results]
        results += [PRED] * len(operation.writes - {"exec"})
        if (tuple(sources), tuple(results)) != (arithmetic.sources, arithmetic.results):
            different.append((operation, arithmetic))
    assert different == []

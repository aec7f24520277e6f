import numpy as np
import pytest

from lockstep.errors import WorkloadError
from lockstep.frontend.accelsim.operands import operand_words
from lockstep.frontend.accelsim.statics import parse_head
from lockstep.isa import sass
from lockstep.isa.instruction import OF_CUS, CachePolicy, OpClass, Space, blank
from lockstep.isa.sass.spelling import spellings


def record(op, space=Space.NONE, width=0, cache=0, targets=(), sources=()):
    row = blank()[0]
    row["op"], row["space"], row["width"], row["cache"] = op, space, width, cache
    for kind, ranges in (("destination", targets), ("source", sources)):
        row[kind + "s"] = len(ranges)
        for k, (first, count) in enumerate(ranges):
            row[kind][k], row[kind + "_count"][k] = first, count
    return row


P = 256
ORDERS = CachePolicy.ACQUIRE, CachePolicy.RELEASE  # machine code has fences for them
RECORDS = [
    record(OpClass.FP32, targets=[(4, 1)], sources=[(1, 1), (2, 1), (3, 1)]),
    record(OpClass.FP32, targets=[(4, 1)], sources=[(1, 1), (P, 1)]),
    record(OpClass.FP64, targets=[(4, 2)], sources=[(6, 2), (8, 2), (10, 2)]),
    record(OpClass.INT32, targets=[(P + 1, 1)], sources=[(3, 1), (4, 1)]),
    record(OpClass.INT32, targets=[(2, 2)], sources=[(4, 2), (6, 2)]),
    record(OpClass.IMAD_WIDE, targets=[(2, 2)], sources=[(4, 1), (5, 1), (6, 2)]),
    record(OpClass.IMAD, targets=[(2, 1)], sources=[(4, 1), (5, 1), (6, 1)]),
    record(OpClass.MOVE, targets=[(2, 2)]),
    record(OpClass.CONVERT, targets=[(2, 2)], sources=[(4, 1)]),
    record(OpClass.CONVERT, targets=[(2, 1)], sources=[(4, 2)]),
    record(OpClass.SPECIAL_REGISTER, targets=[(2, 1)]),
    record(OpClass.SPECIAL_MOVE, targets=[(2, 2)]),
    record(OpClass.MATCH, targets=[(2, 1)], sources=[(4, 1)]),
    record(OpClass.REDUX, targets=[(288, 1)], sources=[(4, 1)]),
    record(OpClass.HMMA, targets=[(0, 4)], sources=[(4, 4), (8, 2), (0, 4)]),
    record(OpClass.IMMA, targets=[(0, 4)], sources=[(4, 4), (8, 2), (0, 4)]),
    record(OpClass.DMMA, targets=[(0, 4)], sources=[(4, 2), (8, 2), (0, 4)]),
    record(OpClass.BARRIER),
    record(OpClass.EXIT, sources=[(P, 1)]),
    record(OpClass.BRANCH, sources=[(P + 2, 1)]),
]
RECORDS += [
    record(OpClass.LOAD, Space.GLOBAL, width, cache, [(8, max(width // 4, 1))], [(2, 2), (P, 1)])
    for width in (1, 2, 4, 8, 16)
    for cache in (0, *CachePolicy.__members__.values())
    if cache not in (CachePolicy.INVALIDATE, *ORDERS)
]
RECORDS += [
    record(OpClass.STORE, space, width, 0, (), [(2, 1 + wide), (8, max(width // 4, 1))])
    for space, wide in ((Space.GLOBAL, 1), (Space.GENERIC, 1), (Space.SHARED, 0), (Space.LOCAL, 0))
    for width in (1, 2, 4, 8, 16)
]
RECORDS += [
    record(OpClass.ATOMIC, Space.GLOBAL, 4, 0, [(9, 1)], [(2, 2), (5, 1)]),
    record(OpClass.ATOMIC, Space.SHARED, 8, 0, [(10, 2)], [(2, 1), (4, 2)]),
    record(OpClass.REDUCTION, Space.GLOBAL, 4, 0, (), [(2, 2), (5, 1)]),
    record(OpClass.REDUCTION, Space.SHARED, 8, 0, (), [(2, 1)]),
]


@pytest.mark.parametrize("architecture", [0, 70, 80, 90])
@pytest.mark.parametrize("row", RECORDS, ids=lambda r: f"{OpClass(r['op']).name}-{r['width']}")
def test_a_spelling_lifts_to_the_record(row, architecture):
    """The text of a trace, written without an opcode of SASS, reads as the record it was."""
    words = operand_words(row, "fancy.op", architecture)
    head = parse_head(f"{words} {row['width']}".encode(), 5)
    assert sass.is_known(head.opcode, 0)
    lifted, _ = sass.lift(
        head.opcode,
        head.destinations,
        head.sources,
        pc=0,
        addressed=head.addressed,
        immediate=0,
        architecture=architecture,
    )
    for field in row.dtype.names:
        assert field == "text" or np.array_equal(lifted[0][field], row[field]), (field, words)


# Traces of machine code have other classes in their place, or are of no AMD GPU.
NAMELESS = {OpClass.UNKNOWN, OpClass.TILE_COPY, OpClass.TILE_STORE, OpClass.OBJECT_WAIT, *OF_CUS}


@pytest.mark.parametrize("op", sorted(set(OpClass) - NAMELESS))
def test_every_class_has_an_opcode(op):
    spaces = (
        [Space.GLOBAL, Space.SHARED] if OpClass.LOAD <= op <= OpClass.REDUCTION else [Space.NONE]
    )
    for space in spaces:
        assert any(sass.is_known(name, 0) for name in spellings(record(op, space)))


@pytest.mark.parametrize("order", ORDERS)
def test_what_an_access_orders_is_left_out(order):
    """PTX says it of an access; machine code has instructions beside it."""
    row = record(OpClass.LOAD, Space.GLOBAL, 4, CachePolicy.BYPASS_L1 | order, [(8, 1)], [(2, 2)])
    assert operand_words(row, "ld.acquire.gpu.u32", 80) == "1 R8 LDG.E.STRONG.GPU 1 R2"
    fence = record(OpClass.FENCE, cache=CachePolicy.ACQUIRE | CachePolicy.RELEASE)
    assert operand_words(fence, "fence.acq_rel.gpu", 80) == "0 MEMBAR.SC.GPU 0"
    fence = record(OpClass.LOCAL_FENCE, cache=CachePolicy.OF_CTA | order)
    assert operand_words(fence, "membar.cta", 80) == "0 MEMBAR.SC.CTA 0"


@pytest.mark.parametrize("space", [Space.GLOBAL, Space.SHARED])
def test_what_machine_code_lacks_is_written_with_its_first_registers(space):
    scattered = [(2, 2), (9, 1), (5, 1), (30, 1), (31, 1)]
    row = record(OpClass.STORE, space, 16, 0, (), scattered)
    name = {Space.GLOBAL: "STG.E.128", Space.SHARED: "STS.128"}[space]
    assert operand_words(row, "st.v4.f32", 80) == f"0 {name} 2 R2 R9"
    with pytest.raises(WorkloadError, match=r"\(STG\) has no form"):
        operand_words(row, "STG", 80)  # an opcode of SASS says what it means


@pytest.mark.parametrize(
    ("row", "text", "words"),
    [
        (record(OpClass.FP64, Space.NONE, 0, 0, [(8, 1)], [(9, 1)]), "DFMA", "1 R8 DFMA 1 R9"),
        (
            record(OpClass.LOAD, Space.GLOBAL, 8, 0, [(8, 1)], [(2, 1)]),
            "LDG.64",
            "1 R8 LDG.64 1 R2",
        ),
    ],
)
def test_records_that_name_fewer_registers_than_their_opcode_are_written(row, text, words):
    assert operand_words(row, text, 80) == words


def test_registers_that_no_operand_holds_together_are_listed_one_by_one():
    pair = record(OpClass.MOVE, Space.NONE, 0, 0, [(6, 2)], [(4, 1)])
    assert operand_words(pair, "mov.b32", 80) == "2 R6 R7 MOV 1 R4"

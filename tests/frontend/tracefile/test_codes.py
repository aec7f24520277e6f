"""Codes: shared between kernels, made on demand, and none that the model could not execute."""

import numpy as np
import pytest

from lockstep.errors import LockstepError
from lockstep.frontend.tracefile.codes import CodeCollector, CodeTables, codes
from lockstep.frontend.tracefile.columns import Malformed
from lockstep.frontend.tracefile.index import Strings
from lockstep.isa.instruction import INSTRUCTION, OpClass, blank, verify
from lockstep.workload import Code


def code(*pcs, texts=("A", "B")):
    records = blank(len(pcs))
    records["pc"] = pcs
    records["text"] = [pc % len(texts) for pc in pcs]
    return Code(records, list(texts))


def stored(*given):
    strings = Strings()
    collector = CodeCollector(strings)
    numbers = [collector.add(c) for c in given]
    return numbers, collector.tables(), list(strings.all)


def test_equal_codes_are_stored_once():
    numbers, tables, strings = stored(code(1, 2), code(2, 1), code(1, 2))
    assert numbers == [0, 1, 0]
    assert tables.instructions.shape[1] == 2  # both orders are of the same two instructions
    for again, original in zip(codes(tables, strings), (code(1, 2), code(2, 1))):
        assert again.instructions.tobytes() == original.instructions.tobytes()
        assert again.texts == original.texts


def test_texts_keep_their_order_whatever_other_codes_do():
    given = code(0, 1, texts=("A", "B")), code(0, 1, texts=("B", "A", "C"))
    _, tables, strings = stored(*given)
    assert [c.texts for c in codes(tables, strings)] == [c.texts for c in given]
    assert [c.instructions["text"].tolist() for c in codes(tables, strings)] == [[0, 1]] * 2


def test_records_are_made_on_demand_and_may_grow():
    _, tables, strings = stored(code(1, 2))
    (again,) = codes(tables, strings)
    assert "_records" not in vars(again)
    assert len(again) == 2
    assert again.extend(blank(3)) == 2
    assert len(again.instructions) == 5
    with pytest.raises(AttributeError):
        again.nothing  # noqa: B018


WRONG = [
    ("pc", -1),
    ("text", 2),
    ("text", -1),
    ("op", len(OpClass)),
    ("op", -1),
    ("space", 7),
    ("width", 65),
    ("width", -1),
    ("destinations", 5),
    ("sources", 9),
    ("sources", -1),
    ("stall", 16),
    ("stall", -2),
    ("write_barrier", 6),
    ("read_barrier", 8),
    ("wait_mask", 64),
    ("threads", -32),
    ("threads", 40),
    ("threads", 1056),
    ("constant", -2),
    ("constant", 1 << 21),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_what_verify_refuses_is_refused_in_both_directions(name, value):
    wrong = code(0, 1, 2)
    wrong.instructions[name][1] = value
    with pytest.raises(LockstepError):
        verify(wrong.instructions, wrong.texts)
    with pytest.raises(LockstepError):
        stored(wrong)
    _, tables, strings = stored(code(0, 1, 2))
    tables.instructions.flags.writeable or (tables := copied(tables))
    words = np.concatenate([tables.instructions, tables.constants])
    words[INSTRUCTION.names.index(name) if name in EARLY else LATE[name], 1] = value
    tables = tables._replace(instructions=words[:-1], constants=words[-1:])
    with pytest.raises(Malformed):
        codes(tables, strings)


EARLY = INSTRUCTION.names[:9]
LATE = {name: INSTRUCTION.fields[name][1] // 8 for name in INSTRUCTION.names}


def copied(tables):
    return CodeTables(*(np.array(t) for t in tables))


@pytest.mark.parametrize(("first", "count"), [(-1, 1), (344, 1), (343, 2), (0, 0), (1, 1 << 62)])
@pytest.mark.parametrize("kind", ["source", "destination"])
def test_registers_outside_the_files_are_refused(kind, first, count):
    wrong = code(0)
    wrong.instructions[kind + "s"] = 1
    wrong.instructions[kind][0, 0], wrong.instructions[kind + "_count"][0, 0] = first, count
    with pytest.raises(LockstepError):
        stored(wrong)


@pytest.mark.parametrize(
    ("table", "place", "value"),
    [
        ("codes", (0, 0), -1),
        ("codes", (0, 0), 3),
        ("codes", (1, 0), 1),
        ("texts", (0, 0), 9),
        ("texts", (0, 0), 1),  # a text is missing that an instruction has
        ("members", (0, 1), 5),
        ("members", (0, 1), -2),
    ],
)
def test_lists_that_do_not_fit_are_refused(table, place, value):
    _, tables, strings = stored(code(0, 1))
    tables = copied(tables)
    getattr(tables, table)[place] = value
    with pytest.raises(Malformed):
        codes(tables, strings)

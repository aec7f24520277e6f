"""Random steps with values: no protocol breaks a promise, and a broken one is found."""

import numpy as np
import pytest

from coherence_twin import numbers, runner
from coherence_twin.machine import Impossible, Machine
from coherence_twin.shadow import Violation
from coherence_twin.tester import Episode
from lockstep.model.coherence.check import check
from lockstep.model.coherence.library import FOLDER, load, names
from lockstep.model.coherence.table import parse

pytestmark = pytest.mark.xdist_group("coherence")  # half a minute to compile, once


@pytest.mark.long
@pytest.mark.parametrize("name", names())
def test_no_load_returns_what_it_may_not(name):
    protocol = load(name)
    program, kinds = numbers.program(protocol), np.arange(7)
    done = 0
    for seed in range(8):
        state = numbers.state(protocol, 2 + seed % 3, (64, 4, 16)[seed % 3], 20_000)
        runner.run(program, state, 7000 + seed, 20_000, kinds, 0, np.zeros(0, np.int64))
        assert numbers.FAILURES[state.one[numbers.FAILURE]] == "", seed
        done += state.one[numbers.OPERATIONS_DONE]
    assert done > 10_000


BROKEN = [
    ("si", 'invalidate = "-> I_X"', 'invalidate = ""'),  # keeps what is older than the acquire
    ("si", 'load_glc = "READ, wait, drop -> I_D"', 'load_glc = "perform"'),
    ("si", 'store = "done, posted, WRITE, drop -> I"', 'store = "done, posted, WRITE"'),
    ("si", 'request = "ordered"', 'request = "unordered"'),  # a READ overtakes a WRITE
    ("si", 'memory = "ordered"', 'memory = "unordered"'),
    ("si", 'READ_PAST = "MEM_WRITE, MEM_READ_PAST, clean"', 'READ_PAST = "MEM_READ_PAST"'),
    ("si", 'MEM_DATA = "fill, replay -> V"', 'MEM_DATA = "merge, replay -> V"'),
    ("vi", 'store = "perform, posted, WRITE, clean"', 'store = "done, posted, WRITE"'),
    ("vi", 'load_gpu = "READ, wait, drop -> I_D"', 'load_gpu = "perform"'),
    ("nmoesi", 'INV = "DOWN_DATA, clean, drop -> I"', 'INV = "DOWN_ACK, clean, drop -> I"'),
    ("nmoesi", '"FWD_GETS INV_OWNER INV" = "stall"', '"FWD_GETS INV_OWNER INV" = "DOWN_ACK"'),
    ("nmoesi", 'WBN_sharer = { on = "WBN", when = "sharer" }', 'WBN_sharer = { on = "WBN" }'),
    ("nmoesi", 'when = "sharer unmixed alone"', 'when = "sharer alone"'),
    ("nmoesi", 'FWD_GETS = "DOWN_ACK -> S"', 'FWD_GETS = "DOWN_ACK"'),
    ("nmoesi", 'WBN_sharer = "merge, mix, remove', 'WBN_sharer = "mix, remove'),
]


@pytest.mark.long
@pytest.mark.parametrize(("name", "old", "new"), BROKEN)
def test_a_broken_protocol_is_found(name, old, new):
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    if name == "nmoesi":
        old, new = (
            old.replace("WBN = {", "WBN_sharer = {"),
            new.replace("WBN = {", "WBN_sharer = {"),
        )
    assert old in text
    protocol = parse(name, text.replace(old, new))
    program, kinds = numbers.program(protocol), np.arange(7)
    for seed in range(40):
        state = numbers.state(protocol, 2 + seed % 2, (4, 64)[seed % 2], 5000)
        runner.run(program, state, seed, 5000, kinds, 0, np.zeros(0, np.int64))
        if state.one[numbers.FAILURE]:
            return
    pytest.fail("nobody noticed")


def test_the_machine_by_names_finds_it_too():
    text = (FOLDER / "si.toml").read_text(encoding="utf-8")
    protocol = parse("si", text.replace('invalidate = "-> I_X"', 'invalidate = ""'))
    with pytest.raises(Violation, match="too old"):
        for seed in range(100):
            tester = Episode(Machine(protocol, 2, 4), seed, range(7))
            for _ in range(500):
                tester.step()


def test_what_the_table_calls_impossible_is_refused():
    text = (FOLDER / "si.toml").read_text(encoding="utf-8")
    protocol = parse("si", text.replace('ACK = "acknowledged"', 'ACK = "! never"'))
    check(protocol)
    machine = Machine(protocol, 1, 1)
    machine.begin(0, "store", 1, 1)
    machine.arrive(0)
    with pytest.raises(Impossible, match="si, l1, V, ACK: impossible"):
        machine.arrive(0)

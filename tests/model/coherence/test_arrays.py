import itertools

import numpy as np
import pytest

from coherence_twin import ledger, numbers, runner
from coherence_twin.machine import Machine
from coherence_twin.tester import Episode
from lockstep.model.coherence.arrays import IMPOSSIBLE, bit, export, triggers
from lockstep.model.coherence.library import load, names
from lockstep.model.coherence.vocabulary import (
    ACTIONS,
    CONDITIONS,
    NETWORKS,
    PAYLOADS,
    RECEIVERS,
    SENDS,
)

pytestmark = pytest.mark.xdist_group("coherence")  # half a minute to compile, once

SIDES = [(name, side) for name in names() for side in ("l1", "home")]


@pytest.mark.parametrize(("name", "side"), SIDES)
def test_the_arrays_say_what_the_table_says(name, side):
    protocol = load(name)
    table, arrays = getattr(protocol, side), getattr(export(protocol), side)
    words, messages = list(ACTIONS[side]), list(protocol.messages)
    for (s, state), (e, event) in itertools.product(
        enumerate(table.states), enumerate(table.events)
    ):
        entry, row = table.entries[state, event], arrays.entries[s, e]
        if entry.impossible:
            assert row["next"] == IMPOSSIBLE
            continue
        assert table.states[row["next"]] == entry.next
        done = [word for k, word in enumerate(words) if row["actions"] >> k & 1]
        assert tuple(word for word in done if word != SENDS) == entry.actions
        assert (SENDS in done) == bool(entry.sends)
        sent = tuple(word for k, word in enumerate(messages) if row["messages"] >> k & 1)
        assert sent == entry.sends


@pytest.mark.parametrize(("name", "side"), SIDES)
def test_a_word_of_conditions_chooses_as_the_names_do(name, side):
    protocol = load(name)
    table, choices = getattr(protocol, side), getattr(export(protocol), side).choices
    events, conditions = list(table.events), CONDITIONS[side]
    for number, trigger in enumerate(triggers(protocol, side)):
        for true in itertools.product((False, True), repeat=len(conditions)):
            holds = dict(zip(conditions, true))
            word = sum(bit(conditions, name) for name in conditions if holds[name])
            found = list(table.choices(trigger))
            if found:
                named = next(e for when, e in found if all(holds[name] for name in when))
                assert events[ledger.choose(choices, number, word)] == named


def test_messages_have_numbers_for_network_receiver_and_payload():
    protocol = load("nmoesi")
    forms = export(protocol).forms
    for form, row in zip(protocol.messages.values(), forms):
        assert list(NETWORKS)[row["network"]] == form.network
        assert list(RECEIVERS)[row["to"]] == form.to
        assert list(PAYLOADS)[row["carries"]] == form.carries
        assert bool(row["ordered"]) == (protocol.networks[form.network] == "ordered")


@pytest.mark.long
@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize(("l1s", "size", "far"), [(2, 8, False), (3, 64, False), (2, 16, True)])
def test_the_machine_by_numbers_takes_the_steps_of_the_one_by_names(name, l1s, size, far):
    protocol = load(name)
    kinds = [k for k in range(7) if not far or k != numbers.ATOMIC_OP]
    for seed in range(2):
        state = numbers.state(protocol, l1s, size, 1000)
        digests = np.zeros(400, np.int64)
        mask = numbers.FAR if far else 0
        runner.run(numbers.program(protocol), state, seed, 400, np.array(kinds), mask, digests)
        assert state.one[numbers.FAILURE] == 0
        tester = Episode(Machine(protocol, l1s, size, far), seed, kinds)
        for number in range(400):
            tester.step()
            assert tester.fold() == int(digests[number]) % (1 << 64), f"seed {seed}, step {number}"
        tester.end()
        assert state.memory.tolist() == tester.machine.memory
        assert state.one[numbers.OPERATIONS_DONE] == len(tester.machine.results) > 30

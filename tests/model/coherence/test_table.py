import re

import pytest

from lockstep.model.coherence.check import check
from lockstep.model.coherence.library import FOLDER, load, names
from lockstep.model.coherence.table import ProtocolError, Transition, parse


def text(name="si"):
    return (FOLDER / f"{name}.toml").read_text(encoding="utf-8")


def changed(old, new, name="si"):
    """A protocol with one change; both steps of reading it."""
    before = text(name)
    assert before.count(old) >= 1
    protocol = parse(name, before.replace(old, new, 1))
    check(protocol)
    return protocol


@pytest.mark.parametrize("name", names())
def test_every_pair_of_state_and_event_has_an_entry(name):
    protocol = load(name)
    for table in (protocol.l1, protocol.home):
        pairs = {(state, event) for state in table.states for event in table.events}
        assert table.entries.keys() == pairs


def test_an_entry_says_what_is_done_in_which_order_and_what_follows():
    entries = load("si").l1.entries
    does = Transition(("perform", "posted", "clean"), ("WRITE",), "V")
    assert entries["I", "store_full"] == does
    assert entries["V", "load_hit"] == Transition(("perform",), (), "V")
    assert entries["V", "evict"] == Transition(("drop",), (), "I")
    assert entries["I", "load_hit"] == Transition((), (), "I", impossible="no byte is valid")


def test_the_first_event_whose_conditions_hold_is_chosen():
    assert list(load("si").l1.choices("load")) == [(("valid",), "load_hit"), ((), "load_miss")]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('atomic = "ATOMIC, wait -> I_A"\n', "", "l1.rows, I, atomic: no entry; add one"),
        (
            '"READ, wait -> I_D"',
            '"READ, wait -> I_E"',
            "no state is named 'I_E'; did you mean I_X",
        ),
        ('"READ, wait -> I_D"', '"REED, wait -> I_D"', "no action or message is named 'REED'"),
        ('"READ, wait -> I_D"', '"READ, wait ->"', "an arrow without a state; name the next one"),
        ('"READ, wait -> I_D"', '"!"', "impossible without a reason; say why"),
        ('"READ, wait -> I_D"', '"READ, wait -> I_D ?"', "not reached without a reason; say why"),
        ("[l1.rows.I]\n", '[l1.rows.I]\nload_mis = "wait"\n', "no event is named 'load_mis'"),
        ("[l1.rows.I]\n", '[l1.rows.I]\nACK = "wait"\n', "ACK has two entries; leave one"),
        ('"READ, wait -> I_D"', '"DATA, wait -> I_D"', "DATA is not this side's to send"),
        ('"READ, wait, drop -> I_D"', '"READ, wait, done"', "done and wait exclude each other"),
        ('DATA = "fill, perform -> V"', 'DATA = "wait"', "only an operation waits; say stall"),
        ('load_hit = "perform"', 'load_hit = "stall"', "only a message stalls"),
        ('invalidate = "-> I_X"', 'invalidate = ""', "l1.states, I_X: no entry leads here"),
        ("[l1.unreached]", '[l1.unreached]\nV = "never"', "unreached, V: an entry leads here"),
        ("[l1.unreached]", '[l1.unreached]\nW = "never"', "no state is named 'W'"),
        ('when = "valid"', 'when = "valif"', "no condition is named 'valif'; did you mean valid"),
        (
            'load_miss = { on = "load" }',
            'load_miss = { on = "load", when = "far" }',
            "end with one",
        ),
        ('FOUND = { on = "FOUND" }\n', "", "no event is named 'FOUND'"),
        ('on = "load_glc"', 'on = "load_slc"', "load_glc has none; add an event on it"),
        ('request = "ordered"', 'request = "sorted"', "'sorted' is no order; say ordered"),
        ('network = "request"', 'network = "requests"', "no network is named 'requests'"),
        ('to = "home"', 'to = "L2"', "no receiver is named 'L2'"),
        ('carries = "operand"', 'carries = "operands"', "no payload is named 'operands'"),
        ("MEM_READ = {", "MEM_REED = {", "no action or message is named 'MEM_READ'"),
        ('NACK = "READ"\n', 'NACK = "! never"\n', ""),
        ("[home.stable]", "[home.stables]", "lacks 'stable'"),
        ("[l1.rows.I]\n", "[l1.rows.I\n", "not TOML"),
    ],
)
def test_what_is_wrong_is_named_with_its_place_and_what_to_do(old, new, message):
    if not message:  # a table may be whole and still wrong: that is for the machine to find
        changed(old, new)
        return
    with pytest.raises(ProtocolError, match=re.escape(message)) as caught:
        changed(old, new)
    assert str(caught.value).startswith("si")


def test_a_message_that_nobody_sends_or_gets_is_found():
    with pytest.raises(ProtocolError, match="messages, NACK: nobody sends it"):
        check(parse("si", text().replace('no_mshr = "NACK"', 'no_mshr = "! never"')))
    with pytest.raises(ProtocolError, match=r"messages, MEM_READ: memory answers MEM_DATA; add it"):
        check(parse("si", re.sub(r"\bMEM_DATA\b", "MEM_LINE", text())))


def test_a_protocol_that_is_not_there_is_named():
    with pytest.raises(ProtocolError, match="no coherence protocol is named 'mesi'"):
        load("mesi")

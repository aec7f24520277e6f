"""Blocks of machine code: where lanes go on, and which loops may wait for others."""

from lockstep.frontend.exec.program import Ending
from lockstep.frontend.exec.sass.graph import Graph
from lockstep.isa.sass.encoding.instruction import Control, Instruction
from lockstep.isa.sass.encoding.operand import Register, Target

URZ = Register("UR", 63, inverted=True)


def instruction(pc: int, mnemonic: str, *operands, modifiers=(), guard=None) -> Instruction:
    return Instruction(pc, mnemonic, modifiers, operands, guard, Control(), 0)


def graph(*code: Instruction, entries=()) -> Graph:
    return Graph(list(code), entries, code[-1].pc + 16)


def test_lanes_that_have_converged_go_on_after_a_branch_for_those_that_have_not():
    blocks = graph(
        instruction(0x00, "BRA", URZ, Target(0x20), modifiers=("DIV",)),
        instruction(0x10, "EXIT"),
        instruction(0x20, "EXIT"),
    ).blocks
    assert blocks[0].taken.first == 2
    assert blocks[0].next is not None and blocks[0].next.first == 1


def test_nobody_goes_on_after_a_branch_without_a_condition():
    blocks = graph(
        instruction(0x00, "BRA", Target(0x20)),
        instruction(0x10, "EXIT"),
        instruction(0x20, "EXIT"),
    ).blocks
    assert [b.first for b in blocks] == [0, 2]
    assert blocks[0].next is None


def test_code_out_of_line_that_jumps_back_makes_no_loop_of_what_lies_between():
    always_not = Register("P", 0)
    blocks = graph(
        instruction(0x00, "BRA", Target(0x30), guard=always_not),
        instruction(0x10, "ATOMS"),
        instruction(0x20, "EXIT"),
        instruction(0x30, "BRA", Target(0x10)),
    ).blocks
    assert not any(b.spins for b in blocks)


def test_a_loop_around_an_atomic_operation_may_wait():
    blocks = graph(
        instruction(0x00, "NOP"),
        instruction(0x10, "ATOMS"),
        instruction(0x20, "BRA", Target(0x10), guard=Register("P", 0)),
        instruction(0x30, "EXIT"),
    ).blocks
    assert [b.spins for b in blocks] == [False, True, False]


def test_a_call_may_go_to_a_service_of_the_host_and_comes_back():
    blocks = graph(
        instruction(0x00, "CALL", Target(0x30), modifiers=("ABS",)),  # the second service
        instruction(0x10, "EXIT"),
    ).blocks
    asked, answer = blocks[0].taken, blocks[0].taken.taken
    assert (asked.service, asked.ending) == (1, Ending.HOST)
    assert answer.more == [blocks[1]]


def test_jumps_through_registers_reach_entries_and_calls_services_too():
    code = (
        instruction(0x00, "BRX", Target(-0x10, Register("R", 2)), guard=Register("P", 0)),
        instruction(0x10, "CALL", Target(0, Register("R", 4))),
        instruction(0x20, "EXIT"),
        instruction(0x30, "RET", Target(0, Register("R", 20))),
    )
    jump, call, back, entry, *_ = graph(*code, entries=[0x30]).blocks
    assert jump.more == [entry] and jump.next is call
    assert call.more[0] is entry and {b.service for b in call.more[1:]} == {0, 1, 2, 3}
    assert entry.more == [back]

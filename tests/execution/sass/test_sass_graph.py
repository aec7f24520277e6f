"""Blocks of machine code: where lanes go on, and which loops may wait for others."""

import pytest

from lockstep.execution.flow.blocks import LONGEST, bounds
from lockstep.execution.flow.liveness import find_live
from lockstep.execution.programs.program import Ending, Meeting
from lockstep.execution.programs.services import SERVICES
from lockstep.execution.sass.graph import Block, Graph, meeting_of
from lockstep.execution.sass.loops import find_waiting_loops
from lockstep.isa.sass.encoding.instruction import Control, Instruction
from lockstep.isa.sass.encoding.operand import Register, Target

URZ = Register("UR", 63, inverted=True)


def instruction(pc: int, mnemonic: str, *operands, modifiers=(), guard=None) -> Instruction:
    return Instruction(pc, mnemonic, modifiers, operands, guard, Control(), 0)


def graph(*code: Instruction, entries=()) -> Graph:
    return Graph(list(code), entries, code[-1].pc + 16)


def targets(block: Block) -> list[Block]:
    """Where a jump through registers may go."""
    (joint,) = block.more
    assert joint.joins
    return joint.more


def waits(*code: Instruction, entries=()) -> list[bool]:
    """Of each block, whether it is in a loop that may wait."""
    blocks = graph(*code, entries=entries).blocks
    find_waiting_loops(code, blocks, set())
    return [b.spins for b in blocks]


def test_lanes_that_have_converged_go_on_after_a_branch_for_those_that_have_not():
    blocks = graph(
        instruction(0x00, "BRA", URZ, Target(0x20), modifiers=("DIV",)),
        instruction(0x10, "EXIT"),
        instruction(0x20, "EXIT"),
    ).blocks
    assert blocks[0].taken.first == 2
    assert blocks[0].next is not None and blocks[0].next.first == 1


def test_lanes_meet_behind_what_each_group_of_them_executes():
    code = (
        instruction(0x00, "NOP"),
        instruction(0x10, "BSYNC", Register("B", 0)),
        instruction(0x20, "WARPSYNC", Register("R", 4)),
        instruction(0x30, "SHFL"),
        instruction(0x40, "EXIT"),
    )
    blocks = graph(*code).blocks[:3]
    assert [(b.first, b.ending) for b in blocks] == [
        (0, Ending.MEET),
        (2, Ending.MEET),
        (3, Ending.EXIT),
    ]
    assert [meeting_of(code[k:]) for k in (1, 2)] == [Meeting.PATHS, Meeting.OPERATION]
    assert meeting_of(code[2:3]) == Meeting.ANYWHERE


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
    assert not any(
        waits(
            instruction(0x00, "BRA", Target(0x30), guard=always_not),
            instruction(0x10, "ATOMS"),
            instruction(0x20, "EXIT"),
            instruction(0x30, "BRA", Target(0x10)),
        )
    )


def test_a_loop_around_an_atomic_operation_may_wait():
    assert waits(
        instruction(0x00, "NOP"),
        instruction(0x10, "ATOMS"),
        instruction(0x20, "BRA", Target(0x10), guard=Register("P", 0)),
        instruction(0x30, "EXIT"),
    ) == [False, True, False]


@pytest.mark.parametrize("inner, expected", [("FFMA", False), ("ATOMS", True)])
def test_a_loop_in_a_loop_that_may_wait_waits_only_if_it_may_itself(inner, expected):
    again = Register("P", 0)
    assert waits(
        instruction(0x00, "NOP"),
        instruction(0x10, inner),
        instruction(0x20, "BRA", Target(0x10), guard=again),
        instruction(0x30, "ATOMS"),
        instruction(0x40, "BRA", Target(0x00), guard=again),
        instruction(0x50, "EXIT"),
    ) == [True, expected, True, False]


def calling_twice(operation: str) -> tuple[Instruction, ...]:
    """A loop that calls a function, and a call of the same function behind it."""
    return (
        instruction(0x00, "NOP"),
        instruction(0x10, "CALL", Target(0x60), modifiers=("REL",)),
        instruction(0x20, "BRA", Target(0x10), guard=Register("P", 0)),
        instruction(0x30, "NOP"),
        instruction(0x40, "CALL", Target(0x60), modifiers=("REL",)),
        instruction(0x50, "EXIT"),
        instruction(0x60, operation),
        instruction(0x70, "RET", Target(0, Register("R", 20))),
    )


def test_a_loop_that_calls_what_polls_may_wait_and_nothing_else_does():
    # blocks: nop; call; branch; call; exit; the function
    assert waits(*calling_twice("ATOMS")) == [False, True, True, False, False, False]
    assert not any(waits(*calling_twice("IADD3")))


def test_registers_live_across_calls_are_those_of_all_places_that_a_function_returns_to():
    found = graph(*calling_twice("IADD3"))
    _, call, after, again, last, function = found.blocks
    last.reads, after.reads, function.writes = {"R1"}, {"R2"}, {"R3"}
    find_live(found.blocks, found.joints)
    assert function.live_out == {"R1", "R2"} == call.live_in
    assert again.live_out == {"R1", "R2"}
    assert last.live_in == {"R1"} and last.live_out == set()


def test_no_block_is_long():
    code = [instruction(16 * k, "IADD3") for k in range(2 * LONGEST)]
    blocks = graph(*code, instruction(32 * LONGEST, "EXIT")).blocks
    assert [b.end - b.first for b in blocks] == [LONGEST, LONGEST, 1]
    assert blocks[0].next is blocks[1]
    assert bounds({3}, 5) == [0, 3, 5]


def test_a_call_may_go_to_a_service_of_the_host_and_comes_back():
    blocks = graph(
        instruction(0x00, "CALL", Target(0x30), modifiers=("ABS",)),  # the second service
        instruction(0x10, "EXIT"),
    ).blocks
    asked, answer = blocks[0].taken, blocks[0].taken.taken
    assert (asked.service, asked.ending) == (1, Ending.HOST)
    assert targets(answer) == [blocks[1]]


def test_jumps_through_registers_reach_entries_and_calls_services_too():
    code = (
        instruction(0x00, "BRX", Target(-0x10, Register("R", 2)), guard=Register("P", 0)),
        instruction(0x10, "CALL", Target(0, Register("R", 4))),
        instruction(0x20, "EXIT"),
        instruction(0x30, "RET", Target(0, Register("R", 20))),
    )
    jump, call, back, entry, *_ = graph(*code, entries=[0x30]).blocks
    assert targets(jump) == [entry] and jump.next is call
    assert targets(call)[0] is entry and [b.service for b in targets(call)[1:]] == [
        *range(len(SERVICES))
    ]
    assert targets(entry) == [back]


def test_the_edges_of_many_functions_grow_with_their_calls():
    functions, calls, code = 200, 10, []
    length = calls + 1
    for number in range(functions):
        for k in range(calls):
            callee = (number * 7 + k) % functions
            target = Target(16 * length * callee)
            code.append(instruction(16 * len(code), "CALL", target, modifiers=("REL",)))
        code.append(instruction(16 * len(code), "RET", Target(0, Register("R", 20))))
    found = graph(*code)
    flow = [*found.blocks, *found.joints]
    assert len(found.blocks) == functions * length
    assert sum(len(b.successors) for b in flow) < 3 * len(flow)
    for block in found.blocks:
        block.reads, block.writes = {f"R{block.number % 50}"}, {f"R{block.number % 70}"}
    find_live(found.blocks, found.joints)
    find_waiting_loops(code, found.blocks, set())
    assert not any(b.spins for b in found.blocks)

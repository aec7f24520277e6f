"""Write ports of the register banks: who waits for whom, and how long."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lockstep.builder import KernelBuilder
from lockstep.gpus import library
from lockstep.gpus.units import operations
from lockstep.isa.instruction import OpClass
from lockstep.isa.sass.lifting import lift
from lockstep.model.core import bind
from lockstep.model.core.state import BANK_BITS, LONG, MAX_WRITES, RESULTS, SHORT, WRITE_BITS
from lockstep.model.sm import write_ports

pytestmark = pytest.mark.plain
HORIZON = write_ports.LAST - write_ports.SHIFT  # cycles that a port looks ahead at least


def writing(*registers, banks=2):
    """An instruction with these results, as bind.py makes it."""
    counts = [sum(r % banks == bank for r in registers) for bank in range(banks)]
    packed = [bank | n << BANK_BITS for bank, n in enumerate(counts) if n]
    writes = sum(entry << WRITE_BITS * i for i, entry in enumerate(packed))
    return SimpleNamespace(writes=writes, more_writes=max(counts) - 1)


def expect(c, instruction, cycle, producer):
    """A result of instruction 0 of the warp in slot 0."""
    owner = write_ports.owner_of(c, 0, 0, 0, producer)
    write_ports.expect(c, 0, 0, owner, instruction, cycle)


@pytest.fixture
def ports(tiny, idle_sms):
    """(state, fixed(registers, cycle, now), load(registers, cycle) -> when dependents may issue).

    The load is of warp slot 0; its first register says when it is written.
    """
    c = idle_sms(tiny())
    c.warps[0, 0].active = 1
    c.warps[0, 0].age = 7

    def fixed(registers, cycle, now):
        write_ports.write(c, 0, 0, writing(*registers).writes, cycle, now)

    def load(registers, cycle, now=None):
        made = writing(*registers)
        last = cycle + made.more_writes
        instruction = c.code[0]
        instruction.destinations = len(registers)
        instruction.write_barrier = 2
        for i, r in enumerate(registers):
            instruction.check[i] = r | 1 << 16
            c.ready[0, 0, r] = last << 2 | LONG
        expect(c, made, last, LONG)
        write_ports.settle_results(c, 0, 0, last if now is None else now)
        return int(c.ready[0, 0, registers[0]]) >> 2

    return c, fixed, load


def test_a_load_waits_for_a_result_of_fixed_latency_at_its_bank(ports):
    c, fixed, load = ports
    fixed([4], 100, 96)
    assert load([8], 100) == 101
    assert c.counters[0].write_conflicts == 1
    assert c.warps[0, 0].clear[2] == 101 << 2 | LONG, "its dependence barrier falls later, too"


@pytest.mark.parametrize(("register", "cycle"), [(9, 100), (8, 99), (8, 101)])
def test_neither_at_the_other_bank_nor_in_another_cycle(ports, register, cycle):
    c, fixed, load = ports
    fixed([4], 100, 96)
    assert load([register], cycle) == cycle
    assert c.counters[0].write_conflicts == 0


def test_a_load_waits_for_as_many_as_come_without_a_gap(ports):
    _, fixed, load = ports
    for cycle in (100, 101, 103):
        fixed([4], cycle, cycle - 4)
    assert load([8], 100) == 102


def test_two_results_of_fixed_latency_take_two_cycles_and_a_load_waits_for_both(ports):
    _, fixed, load = ports
    fixed([4], 100, 95)
    fixed([6], 100, 96)
    assert load([8], 100) == 102


def test_a_load_waits_for_a_load(ports):
    _, _, load = ports
    assert load([8], 100) == 100
    assert load([10], 100) == 101


@pytest.mark.parametrize(("registers", "writes"), [(1, 1), (2, 1), (4, 2), (3, 2), (8, 4)])
def test_a_wide_load_takes_as_many_cycles_as_a_bank_gets_registers(ports, registers, writes):
    _, _, load = ports
    assert load(list(range(8, 8 + min(4, registers))), 100) == 100 + min(writes, 2) - 1
    assert writing(*range(registers)).more_writes == writes - 1
    assert load([8], 100) == 100 + min(writes, 2)


def test_a_wide_load_fills_the_gaps_between_results_of_fixed_latency(ports):
    _, fixed, load = ports
    for cycle in (100, 102):
        fixed([4], cycle, cycle - 4)
    assert load([8, 9, 10, 11], 100) == 103


def test_what_came_while_nobody_looked_is_written_then(ports):
    _, fixed, load = ports
    fixed([4], 100, 96)
    assert load([8], 100, now=5000) == 101
    fixed([4], 9000, 8996)
    assert load([8], 9000) == 9001, "a mask moves on"


def test_a_result_of_a_cta_that_has_ended_delays_nobody(ports):
    c, fixed, _ = ports
    fixed([4], 100, 96)
    expect(c, writing(8), 100, LONG)
    c.warps[0, 0].age = 8
    c.ready[0, 0, 8] = 5
    write_ports.settle_results(c, 0, 0, 100)
    assert c.ready[0, 0, 8] == 5


def test_results_are_written_in_the_order_in_which_they_come(ports):
    c, _, _ = ports
    for cycle in (105, 103, 104, 103):
        expect(c, writing(8), cycle, SHORT)
    sub = c.subcores[0, 0]
    assert sub.result_next == 103
    write_ports.settle_results(c, 0, 0, 103)
    assert (sub.result_count, sub.result_next) == (2, 104)
    assert c.counters[0].write_conflicts == 1, "two came in cycle 103"
    write_ports.settle_results(c, 0, 0, 105)
    assert c.counters[0].write_conflicts == 3, "which moved the others on"


def test_more_results_than_there_is_room_for_are_no_error(ports):
    c, _, _ = ports
    for cycle in range(100, 100 + 3 * RESULTS):
        expect(c, writing(8), cycle, LONG)
    assert c.subcores[0, 0].result_count == RESULTS
    write_ports.settle_results(c, 0, 0, 1000)
    assert c.subcores[0, 0].result_count == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.integers(1, 6)), max_size=40))
def test_ports_agree_with_a_naive_twin(tiny, idle_sms, steps):
    """Every cycle either issues an instruction of some fixed latency or sees a load arrive.

    A port's mask reaches so far ahead; what would be written later is not held up.
    """
    c = idle_sms(tiny())
    taken, now = set(), 10
    for register, is_load, number in steps:
        now += 1
        bank, cycle = register % 2, now if is_load else now + number
        last = cycle + (number - 1 if is_load else 0)
        written = []
        while len(written) < (number if is_load else 1):
            if (bank, cycle) not in taken:
                taken.add((bank, cycle))
                written.append(cycle)
            cycle += 1
        assume(written[-1] - now <= HORIZON)
        if is_load:
            made = writing(*[register + 2 * k for k in range(number)])
            before = int(c.counters[0].write_conflicts)
            expect(c, made, last, LONG)
            write_ports.settle_results(c, 0, 0, last)
            assert c.counters[0].write_conflicts - before == written[-1] - last
        else:
            write_ports.write(c, 0, 0, writing(register).writes, now + number, now)


def records(gpu, *lines):
    """ISSUE records of (opcode, destination)."""
    made = [
        lift(opcode, [d], [], pc=16 * i, addressed=True, immediate=0, architecture=70)[0]
        for i, (opcode, d) in enumerate(lines)
    ]
    return bind.issue_records(np.concatenate(made), gpu, False)


def test_where_results_go(tiny):
    lines = [("FADD", 5), ("LDG.E.64.SYS", 4), ("LDG.E.128.SYS", 4), ("MOV", 255)]
    found = records(tiny(), *lines)
    bank0, bank1 = 0 | 1 << BANK_BITS, 1 | 1 << BANK_BITS
    assert found["writes"].tolist() == [
        bank1,
        bank0 | bank1 << WRITE_BITS,
        (bank0 | bank1 << WRITE_BITS) + (1 << BANK_BITS | 1 << BANK_BITS + WRITE_BITS),
        0,
    ]
    assert found["more_writes"].tolist() == [0, 0, 1, 0]


def test_three_banks_are_enough_for_every_gpu():
    """Of as many registers as the widest instruction writes: all banks have their place."""
    for name in library.names():
        gpu = library.gpu(name)
        if gpu.sm.operands.style == "ports":
            (found,) = records(gpu, ("LDG.E.128.SYS", 4))
            places = [found["writes"] >> WRITE_BITS * k for k in range(gpu.sm.operands.banks)]
            assert [p & (1 << BANK_BITS) - 1 for p in places] == [*range(gpu.sm.operands.banks)]


def test_of_more_banks_than_three_the_others_are_not_found_busy(tiny):
    (found,) = records(tiny(**{"sm.operands.banks": 4}), ("LDG.E.128.SYS", 4))
    entries = [bank | 1 << BANK_BITS for bank in range(MAX_WRITES)]
    assert found["writes"] == sum(entry << WRITE_BITS * k for k, entry in enumerate(entries))


@pytest.mark.parametrize(
    "change", [{"sm.operands.result_queue": False}, {"sm.operands.style": "collectors"}]
)
def test_without_a_result_queue_and_with_collectors_nobody_waits(tiny, change):
    found = records(tiny(**change), ("LDG.E.128.SYS", 4))
    assert found["writes"].tolist() == found["more_writes"].tolist() == [0]


LOAD_CYCLES = 19  # shared memory of QV100


def meeting(gap, register, **change):
    """A shared load, and ``gap`` cycles before its data is there an FADD with its result."""
    k = KernelBuilder("meeting", grid=1, block=32, shared_bytes=128)
    k("LDS.U R8, [R2]", address=0)
    for _ in range(LOAD_CYCLES - gap - 1):
        k("NOP")
    k(f"FADD R{register}, R20, R21")
    k("MOV R30, R8")
    return k.workload()


@pytest.mark.parametrize(
    ("register", "early", "delay"), [(10, 0, 1), (11, 0, 0), (10, 1, 0), (10, -1, 0)]
)
def test_a_dependent_instruction_waits_a_cycle_if_they_meet(watch, tiny, register, early, delay):
    gpu = tiny()
    assert gpu.shared.latency == LOAD_CYCLES
    add = operations(gpu)[OpClass.FP32].latency
    seen = watch(meeting(add + early, register), gpu)
    assert seen.of(0)[-2] == LOAD_CYCLES + delay
    assert seen.counters["write_conflicts"] == delay
    without = watch(meeting(add + early, register), tiny(sm__operands__result_queue=False))
    assert without.of(0)[-2] == LOAD_CYCLES


def test_the_special_function_unit_waits_as_loads_do(watch, tiny):
    gpu = tiny()
    mufu, add = (operations(gpu)[op].latency for op in (OpClass.SFU, OpClass.FP32))
    k = KernelBuilder("mufu", grid=1, block=32)
    k("MUFU.RCP R8, R2")
    for _ in range(mufu - add - 1):
        k("NOP")
    k("FADD R10, R20, R21")
    k("MOV R30, R8")
    seen = watch(k.workload(), gpu)
    assert seen.of(0)[-2] == mufu + 1

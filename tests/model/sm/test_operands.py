"""Register read ports, the register-file cache, and operand collectors."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.builder import KernelBuilder
from lockstep.gpus.units import operations
from lockstep.isa.instruction import OpClass
from lockstep.model.core.state import OFFSET_PLACE, SLOT_PLACE, SUBCORE
from lockstep.model.counters import Stall
from lockstep.model.sm import operands

pytestmark = pytest.mark.plain


def reading(*registers, reuse=0, banks=2):
    """An instruction with these source operands, as bind.py makes it for some banks."""
    packed = [r | r % banks << 16 | k << SLOT_PLACE for k, r in enumerate(registers)]
    return SimpleNamespace(reads=len(registers), read=packed, reuse=reuse)


@pytest.fixture(scope="session")
def ports(tiny, idle_sms):
    """(state, read by warp slot 0 of sub-core 0) with two banks and a window of 3 cycles."""

    def make(**changes):
        c = idle_sms(tiny(**{f"sm.operands.{k}": v for k, v in changes.items()}))
        return c, lambda i, now, w=0: operands.read(c, 0, 0, w, i, now)

    return make


def test_operands_of_one_bank_fit_into_the_window(ports):
    _, read = ports(banks=2, window=3)
    assert read(reading(2, 4, 6), 10) == 0


@pytest.mark.parametrize("n", [4, 5, 8])
def test_what_does_not_fit_into_the_window_delays_and_holds_the_sub_core(ports, n):
    c, read = ports(banks=2, window=3)
    assert read(reading(*range(0, 2 * n, 2)), 10) == n - 3
    assert operands.available(c, 0, 0) == 10 + 1 + n - 3
    assert operands.available(c, 0, 1) == 0, "other sub-cores have ports of their own"
    assert c.counters[0].operand_conflicts == n - 3


def test_two_banks_are_read_side_by_side(ports):
    _, read = ports(banks=2, window=3)
    assert read(reading(0, 1, 2, 3, 4, 5), 10) == 0
    _, read = ports(banks=2, window=2)
    assert read(reading(0, 1, 2, 3, 4, 5), 10) == 1


def test_instructions_back_to_back_share_the_ports(ports):
    _, read = ports(banks=2, window=3)
    assert read(reading(0, 2, 4), 10) == 0  # bank 0 is busy in 11, 12, 13
    assert read(reading(6, 8), 11) == 1  # 14, 15; the window is 12 to 14
    _, read = ports(banks=2, window=3)
    read(reading(0, 2, 4), 10)
    assert read(reading(6, 8), 12) == 0, "one cycle later it fits"


def test_a_reused_operand_needs_no_port(ports):
    c, read = ports(banks=2, window=3)
    assert read(reading(0, 2, 4, reuse=0b001), 10) == 0
    assert read(reading(0, 6, reuse=0), 11) == 0, "slot 0 comes from the cache"
    assert read(reading(0, 8, reuse=0), 14) == 0
    assert (c.reuse[0, 0, :2] == -1).all(), "without the bit an operand is forgotten"


def product(reads, interval):
    """A product of a warpgroup whose lanes hold so many registers of its operands."""
    return SimpleNamespace(immediate=reads, interval=interval)


def test_operands_are_read_beside_the_accumulators_of_a_product(ports):
    """Of 32 registers in 32 cycles bank 0 is read in 10, 12 ..., bank 1 in between."""
    c, read = ports(banks=2, window=3)
    operands.begin_product(c, 0, 0, product(32, 32), 10)
    assert read(reading(2, 4, 6), 11) == 3, "in 13, 15 and 17; the window is 12 to 14"
    assert read(reading(3, 5), 21) == 0, "bank 1 in 22 and 24"
    assert read(reading(2, 4, 6), 41) == 0, "the product ended with cycle 41"
    assert c.register_ports[0, 1, 0] == 0, "other sub-cores have products of their own"


def test_a_product_that_starts_from_zero_reads_no_accumulators(ports):
    c, read = ports(banks=2, window=3)
    operands.begin_product(c, 0, 0, product(0, 32), 10)
    assert read(reading(2, 4, 6), 11) == 0


@given(st.integers(0, 80), st.integers(1, 40), st.integers(1, 4), st.integers(1, 3), st.data())
def test_products_take_the_cycles_in_which_they_read(reads, interval, banks, products, data):
    """Products one behind the other from cycle 100 on; register k of one comes from bank k."""
    c = SimpleNamespace(subcores=np.zeros((1, 1), SUBCORE).view(np.recarray))
    for number in range(products):
        operands.begin_product(c, 0, 0, product(reads, interval), 100 + number * interval)
    taken = {
        (100 + number * interval + k * interval // reads, k % banks)
        for number in range(products)
        for k in range(reads)
    }
    bank, at = data.draw(st.integers(0, banks - 1)), data.draw(st.integers(90, 250))
    expected = at
    while (expected, bank) in taken:
        expected += 1
    assert operands.beside_product(c.subcores[0, 0], banks, bank, at) == expected


@pytest.mark.parametrize("second, hit", [((0, 2), True), ((2, 0), False), ((4, 2), False)])
def test_the_register_file_cache_goes_by_slot_and_register(ports, second, hit):
    _, read = ports(banks=1, window=1)
    read(reading(0, reuse=1, banks=1), 10)
    delay = read(reading(*second, reuse=0, banks=1), 20)
    assert delay == (0 if hit else 1)


def test_the_register_file_cache_belongs_to_one_warp(ports):
    _, read = ports(banks=1, window=1)
    read(reading(0, 2, reuse=1, banks=1), 10, w=0)
    assert read(reading(0, 2, reuse=0, banks=1), 20, w=4) == 1


def test_a_pair_of_registers_is_kept_in_one_slot(ports):
    """The second operand of 64 bits, from a cache that keeps its slot."""
    _, read = ports(banks=1, window=1)
    pair = [4 | 1 << SLOT_PLACE, 5 | 1 << SLOT_PLACE | 1 << OFFSET_PLACE]
    keeps = SimpleNamespace(reads=2, read=pair, reuse=0b10)
    assert read(keeps, 10) == 1
    assert read(SimpleNamespace(reads=3, read=[0, *pair], reuse=0), 20) == 0
    assert read(SimpleNamespace(reads=3, read=[0, *pair], reuse=0), 30) == 2, "kept no longer"


def test_without_a_register_file_cache_reuse_bits_do_nothing(ports):
    _, read = ports(banks=1, window=1, reuse_cache=False)
    read(reading(0, reuse=1, banks=1), 10)
    assert read(reading(0, 2, reuse=0, banks=1), 20) == 1


def test_where_reuse_bits_are_unknown_every_operand_is_kept(ports):
    _, read = ports(banks=1, window=1)
    assert read(reading(4, 5, reuse=-1, banks=1), 10) == 1
    assert read(reading(4, 5, reuse=-1, banks=1), 20) == 0, "the same registers in the same slots"
    assert read(reading(5, 4, reuse=-1, banks=1), 30) == 1, "in other slots"
    assert read(reading(5, 4, reuse=-1, banks=1), 40, 4) == 1, "of another warp"


@given(st.lists(st.lists(st.integers(0, 20), max_size=8), max_size=12), st.integers(1, 4))
def test_ports_agree_with_a_naive_twin(ports, instructions, banks):
    _, read = ports(banks=banks, window=2)
    busy, now = set(), 0  # (bank, cycle)
    for registers in instructions:
        last = now
        for r in registers:
            cycle = now + 1
            while any((r % banks, t) in busy for t in range(cycle, 200)):
                cycle += 1  # in order: after everything that the bank has been asked for
            busy.add((r % banks, cycle))
            last = max(last, cycle)
        assert read(reading(*registers, banks=banks), now) == max(0, last - now - 2)
        now += 2


def test_a_warp_waits_while_ports_are_held(watch, tiny):
    gpu = tiny(**{"sm.operands.banks": 1, "sm.operands.window": 1})
    k = KernelBuilder("conflict", grid=1, block=32)
    k("FFMA R1, R2, R3, R4")
    k("NOP")
    k("MOV R5, R1")
    seen = watch(k.workload(), gpu)
    latency = operations(gpu)[OpClass.FP32].latency
    assert seen.of(0)[:3] == [0, 3, latency + 2], "the pipe is held, and the result comes later"
    assert seen.stalls[Stall.OPERANDS] == 2
    assert seen.counters["operand_conflicts"] == 2


@pytest.fixture(scope="session")
def collectors(tiny, idle_sms):
    def make(units=2, banks=4):
        gpu = tiny(
            **{
                "sm.operands.style": "collectors",
                "sm.operands.collectors": units,
                "sm.operands.banks": banks,
            }
        )
        c = idle_sms(gpu)
        return c, lambda i, now, w=0: operands.read(c, 0, 0, w, i, now)

    return make


def test_collectors_work_while_others_issue(collectors):
    c, read = collectors(units=2)
    assert read(reading(0, 4, 8, banks=4), 10) == 2  # three reads of one bank: 11, 12, 13
    assert operands.available(c, 0, 0) == 0, "the other collector is free"
    assert read(reading(1, 5, 9, banks=4), 11) == 2
    assert operands.available(c, 0, 0) == 14, "the first has its operands after 13"
    assert c.counters[0].operand_conflicts == 2 + 2


def test_banks_are_swizzled_by_warp(collectors):
    _, read = collectors()
    assert read(reading(0, banks=4), 10, w=0) == 0
    assert read(reading(0, banks=4), 10, w=1) == 0
    assert read(reading(0, banks=4), 10, w=4) == 1, "four banks: the fifth warp meets the first"


def test_an_instruction_without_sources_needs_no_collector(collectors):
    c, read = collectors(units=1)
    read(reading(0, banks=4), 10)
    free = c.register_ports.copy()
    assert read(reading(), 10) == 0
    assert np.array_equal(free, c.register_ports)


def test_a_warp_waits_for_a_free_collector(watch, tiny):
    gpu = tiny(**{"sm.operands.style": "collectors", "sm.operands.collectors": 1})
    k = KernelBuilder("collect", grid=1, block=32)
    k("FFMA R1, R2, R4, R6")  # one bank of two: collected in cycles 1, 2 and 3
    k("MOV R8, R9")
    seen = watch(k.workload(), gpu)
    assert seen.of(0)[:2] == [0, 4]
    assert seen.stalls[Stall.OPERANDS] == 3 + 1, "MOV, and the EXIT behind it"

"""A DRAM channel: who is served when, and that no command ever breaks the standard."""

import numpy as np
import pytest

from lockstep.model.dram import standard
from lockstep.model.dram.standard import Command
from lockstep.model.dram.state import READ, WRITE

pytestmark = pytest.mark.plain

ACT, PRE, RD, WR, REFAB, REFPB = (int(c) for c in Command)


def test_a_read_of_a_closed_bank_opens_it_then_reads(channel):
    dram = channel()
    dram.add(bank=3, row=7, at=10)
    dram.finish()
    assert dram.ticks(ACT) == [11]  # a request counts from the next cycle on
    assert dram.ticks(RD) == [11 + dram.p.nRCD]
    assert dram.data == [(3, 7, 11 + dram.p.nRCD + dram.p.nCL + dram.p.nBL)]
    assert (dram.counters.dram_row_misses, dram.counters.dram_reads) == (1, 1)


def test_a_second_read_of_the_row_follows_after_a_burst(channel):
    dram = channel()
    for _ in range(3):
        dram.add(bank=0, row=7)
    dram.finish()
    first = 1 + dram.p.nRCD
    assert dram.ticks(RD) == [first, first + dram.p.nCCDL, first + 2 * dram.p.nCCDL]
    assert (dram.counters.dram_row_hits, dram.counters.dram_row_misses) == (2, 1)


def test_bank_groups_take_turns_at_the_shorter_delay(channel):
    dram = channel(dram__timing={"nRRD": 2, "nCCD": 1, "nCCDL": 3})
    for bank in (0, 1):
        dram.add(bank, row=1)
    dram.finish()
    dram.add(0, row=1, at=100)
    dram.add(1, row=1, at=100)
    dram.finish()
    assert dram.ticks(RD)[2:] == [101, 102]


def test_another_row_waits_for_the_precharge(channel):
    dram = channel()
    dram.add(bank=2, row=1)
    dram.add(bank=2, row=9)
    dram.finish()
    p = dram.p
    precharge = max(1 + p.nRAS, 1 + p.nRCD + p.nRTPL)
    assert dram.ticks(PRE) == [precharge]
    assert dram.ticks(ACT) == [1, max(precharge + p.nRP, 1 + p.nRC)]
    assert dram.counters.dram_row_conflicts == 1


def test_the_fifth_activate_waits_for_the_window(channel):
    dram = channel(dram__timing={"nRRD": 3, "nFAW": 40})
    for bank in range(6):
        dram.add(bank, row=0)
    dram.finish()
    assert dram.ticks(ACT) == [1, 4, 7, 10, 41, 44]


def test_the_bus_turns_around(channel):
    dram = channel()
    dram.add(bank=0, row=1)
    dram.finish()
    dram.add(bank=0, row=1, write=1, at=100)
    dram.finish()
    dram.add(bank=0, row=1, at=101)
    dram.finish()
    p = dram.p
    assert dram.ticks(WR) == [101]
    assert dram.ticks(RD)[1] == 101 + p.nCWL + p.nBL + p.nCDLRL
    assert dram.counters.dram_turnarounds == 2
    dram.add(bank=0, row=1, write=1, at=dram.ticks(RD)[1])
    dram.finish()
    assert dram.ticks(WR)[1] == dram.ticks(RD)[1] + p.nCL + p.nBL + 2 - p.nCWL


def test_two_buses_give_a_row_and_a_column_command_at_once(channel):
    both = {}
    for dual in (False, True):
        dram = channel(dram__dual_command_bus=dual, dram__timing={"nRRD": 1, "nFAW": 0})
        dram.add(bank=0, row=1)
        dram.finish()
        dram.add(bank=0, row=1, at=100)
        dram.add(bank=1, row=1, at=100)
        dram.finish()
        both[dual] = dram.ticks(RD, 0)[1], dram.ticks(ACT, 1)[0]
    assert both == {True: (101, 101), False: (101, 102)}


@pytest.mark.parametrize("burst, requests", [(2, 1), (1, 2)])
def test_a_sector_longer_than_a_burst_takes_several(channel, burst, requests):
    dram = channel(dram__burst_length=burst)
    dram.add(bank=0, row=1)
    dram.finish()
    assert len(dram.ticks(RD)) == requests
    assert len(dram.data) == 1
    assert dram.counters.dram_read_bytes == 32


QUEUES = {
    "dram__write_queue": 16,
    "dram__read_queue": 64,
    "dram__drain_high": 0.5,
    "dram__drain_low": 0.25,
}


class TestTurns:
    """Reads go first; writes when their queue is full enough, or nobody reads."""

    def order(self, channel, writes, reads):
        dram = channel(**QUEUES)
        for _ in range(writes):
            dram.add(bank=0, row=1, write=1)
        for _ in range(reads):
            dram.add(bank=0, row=1)
        dram.finish()
        return "".join("W" if e.command == WR else "R" for e in dram.log if e.command in (RD, WR))

    def test_writes_wait_below_the_mark(self, channel):
        assert self.order(channel, 7, 5) == "RRRRR" + "WWWWWWW"

    def test_at_the_mark_they_are_drained_to_the_lower_one(self, channel):
        assert self.order(channel, 8, 5) == "WWWW" + "RRRRR" + "WWWW"

    def test_without_reads_they_go_at_once(self, channel):
        assert self.order(channel, 3, 0) == "WWW"

    @pytest.mark.parametrize("reads", [0, 1])
    def test_where_gaps_are_left_alone_they_wait_for_the_mark(self, channel, reads):
        dram = channel(**QUEUES, dram__idle_writes=False)
        for _ in range(7):
            dram.add(bank=0, row=1, write=1)
        for _ in range(reads):
            dram.add(bank=0, row=1)
        dram.run(1000)
        assert dram.ticks(WR) == [] and len(dram.ticks(RD)) == reads
        dram.add(bank=0, row=1, write=1, at=1000)
        dram.run(2000)
        assert len(dram.ticks(WR)) == 4, "from 8 to 4, the lower mark"
        assert min(dram.ticks(WR)) >= 1000
        assert dram.state.waiting.tolist() == [0, 4]


def test_first_ready_serves_an_open_row_before_an_older_request(channel):
    orders = {}
    for name in ("frfcfs", "fcfs"):
        dram = channel(dram__scheduler=name)
        dram.add(bank=0, row=1)
        dram.run(5)
        dram.add(bank=0, row=2, at=5)
        dram.add(bank=0, row=1, at=5)
        dram.finish()
        orders[name] = [row for _, row, _ in dram.data]
    assert orders == {"frfcfs": [1, 1, 2], "fcfs": [1, 2, 1]}


def test_after_its_share_of_columns_a_row_goes_by_age(channel):
    def order(most, rows):
        dram = channel(dram__row_accesses=most)
        dram.add(bank=0, row=1)
        dram.run(5)
        for row in rows:
            dram.add(bank=0, row=row, at=5)
        dram.finish()
        assert not dram.violations()
        return "".join(str(row) for _, row, _ in dram.data), len(dram.ticks(ACT))

    assert order(0, [1, 2, 1, 1, 1]) == ("111112", 2)
    assert order(3, [1, 2, 1, 1, 1]) == ("111211", 3)
    assert order(4, [1, 2, 1, 1, 1]) == ("111121", 3)
    assert order(1, [1, 2, 1, 1, 1]) == ("112111", 3), "the second is older than the other row's"
    assert order(1, [1, 1, 1, 1, 1]) == ("111111", 1)


def test_what_comes_after_the_share_goes_by_age(channel):
    dram = channel(dram__row_accesses=1)
    dram.add(bank=0, row=1)
    end = dram.finish()
    for row in (1, 2, 1):
        dram.add(bank=0, row=row, at=end)
    dram.finish()
    assert [row for _, row, _ in dram.data] == [1, 1, 2, 1]


def test_banks_take_turns(channel):
    """Four banks with open rows and a backlog: age serves one after the other, turns all."""

    def order(name):
        dram = channel(dram__scheduler=name, dram__timing={"nRRD": 1, "nFAW": 1, "nCCDL": 1})
        for bank in range(4):
            dram.add(bank=bank, row=1)
        dram.finish()
        at = int(dram.log[-1].tick) + 20
        for bank in (2, 2, 1, 1, 0, 0, 3, 3):
            dram.add(bank=bank, row=1, at=at)
        dram.finish()
        assert not dram.violations()
        return [bank for bank, _, _ in dram.data[4:]]

    assert order("frfcfs") == [2, 2, 1, 1, 0, 0, 3, 3]
    assert order("bank_round_robin") == [0, 1, 2, 3, 0, 1, 2, 3]


def test_a_fixed_latency_knows_no_banks_no_bus_and_no_refresh(channel):
    dram = channel(dram__scheduler="fixed", dram__refresh=True, dram__timing={"nREFI": 50})
    for at in (0, 0, 0, 700):
        dram.run(at)
        dram.add(bank=0, row=at + 1, at=at)
        dram.add(bank=0, row=at + 2, write=1, at=at)
    dram.run(10_000)
    assert [ready for _, _, ready in dram.data] == [1, 1, 1, 701]
    assert (dram.counters.dram_reads, dram.counters.dram_writes) == (4, 4)
    assert dram.counters.dram_refreshes == 0 and not dram.state.waiting.any()


def test_first_ready_wins_clearly_where_rows_are_shared(channel, traffic):
    requests = traffic(seed=3, count=300, banks=4, rows=6, writes=0.0, spacing=0)
    ends = {s: channel(dram__scheduler=s).drive(requests) for s in ("frfcfs", "fcfs")}
    assert ends["frfcfs"] * 1.5 < ends["fcfs"]


def test_a_stream_over_all_bank_groups_fills_the_bus(channel):
    dram = channel(dram__timing={"nCCDL": 2})
    requests = [(0, 0, group + i // 16 * 4, 1) for i in range(64) for group in range(4)]
    end = dram.drive(requests)
    assert dram.counters.dram_bus_busy > 0.8 * end
    one_group = channel(dram__timing={"nCCDL": 2})
    assert one_group.drive([(0, 0, 0, 1)] * 256) > 1.5 * end


def test_a_closed_page_pays_on_random_rows_and_costs_on_one_row(channel):
    scattered = [(150 * i, 0, 0, i) for i in range(20)]
    one_row = [(150 * i, 0, 0, 5) for i in range(20)]

    def delay(page, requests):
        dram = channel(dram__page=page)
        dram.drive(requests)
        return np.mean([ready - at for (_, _, ready), (at, *_) in zip(dram.data, requests)])

    p = channel().p
    assert delay("closed", scattered) == 1 + p.nRCD + p.nCL + p.nBL
    assert delay("open", scattered) > delay("closed", scattered) + 0.9 * p.nRP
    assert delay("open", one_row) < delay("closed", one_row) - 0.9 * p.nRCD


def test_a_closed_page_stays_open_for_requests_that_wait(channel):
    dram = channel(dram__page="closed")
    for _ in range(4):
        dram.add(bank=0, row=1)
    dram.finish()
    dram.run(500)
    assert len(dram.ticks(ACT)) == len(dram.ticks(PRE)) == 1
    assert dram.ticks(PRE)[0] == max(dram.ticks(RD)[-1] + dram.p.nRTPL, 1 + dram.p.nRAS)


def test_a_users_scheduler_sees_the_queue_and_chooses(channel):
    seen = []

    def youngest(queue, first, count, now):
        seen.append([(int(q.bank), int(q.row)) for q in queue[first : first + count]])
        for i in reversed(range(count)):
            if queue[first + i].ready <= now:
                return i
        return -1

    dram = channel(user=youngest)
    for row in (1, 2, 3):
        dram.add(bank=0, row=row)
    dram.finish()
    assert seen[0] == [(0, 1), (0, 2), (0, 3)]
    assert [row for _, row, _ in dram.data] == [3, 2, 1]
    assert not dram.violations()


@pytest.mark.parametrize("answer", [-5, 99])
def test_a_users_scheduler_that_names_nobody_is_asked_again(channel, answer):
    dram = channel(user=lambda queue, first, count, now: 0 if now >= 50 else answer)
    dram.add(bank=0, row=1)
    dram.finish()
    assert dram.ticks(ACT) == [50]


BANKS = 4
OFTEN = {
    "dram__refresh": True,
    "dram__banks": BANKS,
    "dram__bank_groups": 2,
}


class TestRefresh:
    def busy(self, channel, timing, cycles=4000):
        dram = channel(**OFTEN, dram__timing=timing)
        dram.drive([(20 * i, 0, i % BANKS, i % 3) for i in range(cycles // 20)])
        assert not dram.violations()
        return dram

    def test_every_bank_has_its_turn_in_each_interval(self, channel):
        dram = self.busy(channel, {"nREFI": 1200, "nRFCpb": 100})
        banks = [int(e.bank) for e in dram.log if e.command == REFPB]
        assert banks == [i % BANKS for i in range(len(banks))]
        assert len(banks) == dram.counters.dram_refreshes
        assert len(banks) == pytest.approx(BANKS * dram.log[-1].tick / 1200, abs=2)

    def test_all_banks_at_once(self, channel):
        dram = self.busy(channel, {"nREFI": 800, "nRFC": 200, "nRFCpb": 0})
        ticks = dram.ticks(REFAB)
        assert len(ticks) == pytest.approx(dram.log[-1].tick / 800, abs=2)
        inside = [e for e in dram.log for t in ticks if t < e.tick < t + 200]
        assert not inside

    def test_it_takes_time_from_the_requests(self, channel):
        calm = channel(dram__banks=BANKS, dram__bank_groups=2)
        requests = [(0, 0, i % BANKS, i // 40) for i in range(400)]
        often = channel(**OFTEN, dram__timing={"nREFI": 200, "nRFC": 80, "nRFCpb": 0})
        assert often.drive(requests) > 1.1 * calm.drive(requests)

    def test_an_idle_channel_makes_up_for_it_when_it_wakes(self, channel):
        dram = channel(**OFTEN, dram__timing={"nREFI": 1200, "nRFCpb": 100})
        dram.drive([(0, 0, 0, 1), (100_100, 0, 0, 1)])
        expected = 100_100 / (1200 / BANKS)
        assert dram.counters.dram_refreshes == pytest.approx(expected, abs=4)
        assert not dram.violations()
        assert dram.counters.dram_row_hits == 0, "the row did not survive its refresh"

    @pytest.mark.parametrize("after, wait", [(1, 199), (150, 50), (199, 1), (201, 1)])
    def test_a_request_waits_only_for_what_is_left_of_a_refresh(self, channel, after, wait):
        dram = channel(**OFTEN, dram__timing={"nREFI": 5000, "nRFC": 200, "nRFCpb": 0})
        dram.add(bank=0, row=1, at=5000 + after)
        dram.finish()
        assert dram.ticks(REFAB) == [5000]
        assert dram.ticks(ACT) == [5000 + after + wait]

    def test_however_often_it_is_due_requests_are_served(self, channel):
        dram = channel(**OFTEN, dram__timing={"nREFI": 4, "nRFCpb": 50})
        dram.drive([(0, i % 2, i % BANKS, i % 2) for i in range(40)])
        assert not dram.violations()


SHAPES = [
    {},
    {"dram__page": "closed", "dram__dual_command_bus": True},
    {"dram__scheduler": "fcfs"},
    {"dram__scheduler": "bank_round_robin", "dram__row_accesses": 2},
    {"dram__row_accesses": 1},
    {"dram__banks": 5, "dram__bank_groups": 1, "dram__write_queue": 3, "dram__read_queue": 5},
    {"dram__banks": 6, "dram__bank_groups": 3, "dram__page": "closed", "dram__burst_length": 1},
]


@pytest.mark.long
@pytest.mark.parametrize("shape", range(len(SHAPES)))
@pytest.mark.parametrize("name", standard.names())
def test_random_traffic_obeys_the_whole_table(channel, traffic, name, shape):
    """A log of commands, replayed against every constraint for every pair of commands."""
    dram = channel(
        **{"dram__banks": 8, "dram__standard": name, "dram__refresh": True} | SHAPES[shape],
        dram__timing={"nREFI": 400},
    )
    banks = dram.gpu.dram.banks
    requests = traffic(seed=shape, count=150, banks=banks, rows=3, writes=0.4, spacing=12)
    dram.drive(requests)
    assert not dram.violations()
    columns = sorted(
        (int(e.command == WR), int(e.bank), int(e.row)) for e in dram.log if e.command in (RD, WR)
    )
    bursts = int(dram.c.spec[0].bursts)
    assert columns == sorted([r[1:] for r in requests] * bursts)
    reads = sorted((bank, row) for _, write, bank, row in requests if not write)
    assert sorted(d[:2] for d in dram.data) == reads
    assert dram.counters.dram_refreshes >= 2


def test_the_checker_of_these_tests_sees_a_command_too_early(channel, checker):
    dram = channel()
    dram.add(bank=0, row=1)
    dram.add(bank=0, row=2)
    dram.finish()
    assert [int(e.command) for e in dram.log] == [ACT, RD, PRE, ACT, RD]
    for which in (1, 2, 3, 4):
        log = dram.log.copy()
        log.tick[which] -= 1
        assert checker(log, dram.timing, dram.gpu.dram), which
    log = dram.log.copy()
    log.row[1] = log.bank[3] = 3
    assert len(checker(log[[0, 1, 1]], dram.timing, dram.gpu.dram)) > 0
    assert checker(log[1:], dram.timing, dram.gpu.dram)


def test_queue_lengths_and_clocks_are_counted(channel):
    dram = channel()
    dram.add(bank=0, row=1, at=10)
    dram.finish()
    taken = dram.ticks(RD)[0] - 10
    assert dram.counters.dram_read_queue == taken
    assert dram.counters.dram_bus_busy == dram.p.nBL
    assert [int(dram.state.waiting[d]) for d in (READ, WRITE)] == [0, 0]

"""Routers: where messages go, when they arrive, and how many bytes a link carries a cycle."""

import pytest

from lockstep.gpus import library
from lockstep.model import link
from lockstep.model.link import KIND_ACK, KIND_DATA, KIND_READ, KIND_WRITE
from lockstep.model.modules import router, state
from lockstep.model.modules.legs import legs
from lockstep.model.modules.routes import routes
from model.owned import of_owner

pytestmark = pytest.mark.plain

L, HOP, HEADER, SECTOR = 12, 5, 16, 32
MHZ = 1000.0


class Net:
    """Routers of eight modules at most, of two SMs and one partition each, window after window."""

    def __init__(self, modules=4, topology="ring", bandwidth=0.0, hop=HOP):
        self.gpu = library.replace(
            library.gpu("QV100"),
            **{
                "clock_mhz": MHZ,
                "sm.count": 2 * modules,
                "dram.channels": modules,
                "l2.slices_per_channel": 1,
                "interconnect.latency": L,
                "modules.count": modules,
                "modules.topology": topology,
                "modules.bandwidth": bandwidth,
                "modules.hop_latency": hop,
                "modules.header_bytes": HEADER,
            },
        )
        self.links, self.routers = state.build_links(self.gpu), state.build(self.gpu)
        self.window, self.start = legs(self.gpu).window, 0
        self.arrived = []  # cycle, "SM" or "partition", its number, source, tag
        self.waiting = []  # cycle, function that sends

    def request(self, cycle, sm, partition, tag, kind=KIND_READ, sectors=1):
        """An SM's request leaves in a cycle."""
        self.waiting.append((cycle, 0, sm, sm // 2, kind, sm, partition, tag, sectors))

    def reply(self, cycle, partition, sm, tag, kind=KIND_DATA, sectors=1):
        """A partition's reply leaves in a cycle."""
        self.waiting.append((cycle, 1, partition, partition, kind, sm, partition, tag, sectors))

    def run(self, until):
        """Windows until a cycle."""
        joined = router.LinkedRouters(self.routers, self.links)
        k = self.gpu.modules.count
        while self.start < until:
            end = self.start + self.window
            self._send(end)
            router.run_linked(joined, 0, k, 1, self.start, end)
            self._receive(end)
            for each in self.links:
                number = int(each.begun[0])
                all_there = of_owner(each, 0, int(each.spec[0].destinations))
                link.deliver(each, number, *all_there, self.start)
            self.start = end

    def _send(self, end):
        for each, shards in ((self.links.requests, 2), (self.links.replies, 1)):
            for source in range(shards * self.gpu.modules.count):
                link.begin(each, source)
        due = sorted(w for w in self.waiting if w[0] < end)
        self.waiting = [w for w in self.waiting if w[0] >= end]
        for cycle, back, shard, module, kind, sm, partition, tag, sectors in due:
            through = self.links.replies if back else self.links.requests
            message = link.put(through, shard, module, cycle)
            message.source, message.slice, message.kind = sm, partition, kind
            message.tag, message.sectors = tag, sectors

    def _receive(self, end):
        for name, inbox in (("SM", self.links.to_sms), ("partition", self.links.to_partitions)):
            for d in range(int(inbox.spec[0].destinations)):
                link.open_inbox(inbox, d)
                while link.waiting(inbox, d, end - 1):
                    message = link.first(inbox, d)
                    at, source, tag = int(message.arrival), int(message.source), int(message.tag)
                    self.arrived.append((at, name, d, source, tag))
                    link.drop(inbox, d)


@pytest.mark.parametrize(
    ("topology", "modules"), [("ring", 5), ("ring", 2), ("mesh", 6), ("full", 4), ("full", 8)]
)
@pytest.mark.parametrize("hop", [1, 5, 30])
def test_every_way_takes_the_crossbar_and_its_hops(topology, modules, hop):
    net = Net(modules, topology, hop=hop)
    pairs = [(a, b) for a in range(modules) for b in range(modules) if a != b]
    for n, (a, b) in enumerate(pairs):
        net.request(100 * n, 2 * a + 1, b, tag=n)
        net.reply(100 * n + 50, b, 2 * a, tag=1000 + n)
    net.run(100 * len(pairs) + 10 * hop + 100)
    hops = routes(net.gpu.modules).hops
    expected = []
    for n, (a, b) in enumerate(pairs):
        expected.append((100 * n + L + hop * hops[a][b], "partition", b, 2 * a + 1, n))
        expected.append((100 * n + 50 + L + hop * hops[b][a], "SM", 2 * a, b, 1000 + n))
    assert sorted(net.arrived) == sorted(expected)


def test_on_a_full_network_links_may_have_no_length():
    net = Net(4, "full", hop=0)
    net.request(7, 0, 3, tag=1)
    net.run(50)
    assert net.arrived == [(7 + L, "partition", 3, 0, 1)]


@pytest.mark.parametrize("bandwidth", [48.0, 24.0, 96.0, 100.0, 384.0])
def test_a_link_carries_exactly_its_bytes_a_cycle(bandwidth):
    net = Net(2, bandwidth=bandwidth)
    count, size = 400, HEADER + SECTOR
    for n in range(count):  # more than the link can carry: one a cycle from each of two SMs
        net.request(n // 2, n % 2, 1, tag=n, kind=KIND_WRITE)
    net.run(count * 4)
    arrivals = [cycle for cycle, *_ in sorted(net.arrived)]
    assert [tag for *_, tag in net.arrived] == list(range(count)), "first come, first served"
    a_cycle = bandwidth * 1000 / MHZ
    first = L + HOP
    for n, cycle in enumerate(arrivals):  # pinned from both sides
        begun = max(n // 2, int(n * size / a_cycle + 1e-9))
        assert cycle == first + begun, n
    assert net.routers.counters[0].bytes[0] == count * size


def test_bytes_are_a_header_and_the_sectors_that_a_message_carries():
    net = Net(2)
    net.request(0, 0, 1, tag=1, kind=KIND_READ, sectors=0b1111)
    net.request(1, 0, 1, tag=2, kind=KIND_WRITE, sectors=0b1011)
    net.reply(0, 1, 0, tag=3, kind=KIND_DATA, sectors=0b11)
    net.reply(1, 1, 0, tag=4, kind=KIND_ACK, sectors=0b1111)
    net.run(100)
    up, down = net.routers.counters[0], net.routers.counters[1]
    assert (up.bytes[0], up.messages[0]) == (2 * HEADER + 3 * SECTOR, 2)
    assert (down.bytes[0], down.messages[0]) == (2 * HEADER + 2 * SECTOR, 2)
    assert (up.requests, up.replies, down.requests, down.replies) == (2, 0, 0, 2)


def test_requests_and_replies_share_a_link_and_its_waits_are_counted():
    net = Net(2, bandwidth=16.0)  # a header a cycle
    for n in range(3):
        net.request(0, n % 2, 1, tag=n)
        net.reply(0, 0, 2, tag=10 + n, kind=KIND_ACK)
    net.run(100)
    assert [tag for *_, tag in sorted(net.arrived)] == [0, 2, 1, 10, 11, 12]
    assert sorted(cycle for cycle, *_ in net.arrived) == [L + HOP + n for n in range(6)]
    assert net.routers.counters[0].waited[0] == sum(range(6))


def test_what_passes_through_a_module_is_counted_on_both_links():
    net = Net(4)
    net.request(0, 0, 2, tag=1)
    net.run(100)
    counters = net.routers.counters
    assert [int(counters[m].messages.sum()) for m in range(4)] == [1, 1, 0, 0]
    assert [int(counters[m].requests) for m in range(4)] == [1, 0, 0, 0]

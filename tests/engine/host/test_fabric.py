"""Copies between GPUs: idle ones to the picosecond, and several that share links or do not."""

import itertools
import random

import pytest

from gpu_systems import NVLINK, NVSWITCH, PCIE, small_system
from lockstep.engine.host.host import host_of_system
from lockstep.host_calls import Direction, MemoryCopy, PeerCopy, RecordEvent, SetDevice, WaitEvent
from lockstep.model.clock import NEVER

PACKET = 16384
SIZE = 64 * PACKET


def peer(source, to, size=SIZE, stream=1, staged=False):
    """What a program asks for: a copy in a stream of the GPU that sends."""
    copy = PeerCopy(0, size, stream=stream, blocking=False, source=source, to=to, staged=staged)
    return [SetDevice(source), copy]


def run(system, *commands):
    """The host after all of it."""
    host = host_of_system(system)
    host.take([command for group in commands for command in group])
    host.advance(NEVER, NEVER)
    assert host.done
    return host


def times(system, *commands):
    """How long each copy took, by (source, to)."""
    copies = run(system, *commands).run.peers
    assert len({(c.source, c.to) for c in copies}) == len(copies)
    return {(c.source, c.to): c.end - c.start for c in copies}


def rest(system, latency):
    """What an idle copy takes beside its bytes on the link: L2s at both ends, there and back."""
    costs = host_of_system(system).seats[0].costs
    return 2 * costs.in_l2(PACKET) + 2 * latency


@pytest.mark.parametrize("packets", [1, 2, 64])
def test_an_idle_copy_over_a_link(packets):
    system = small_system(2)
    on_link = packets * PACKET * 1000 // 25
    wanted = on_link + rest(system, 500_000)
    assert times(system, peer(0, 1, packets * PACKET)) == {(0, 1): wanted}


def test_a_small_packet_takes_what_it_has_rounded_up():
    system = small_system(2, **NVLINK | {"bandwidth": 24.0})
    costs = host_of_system(system).seats[0].costs
    assert times(system, peer(0, 1, 1)) == {(0, 1): 42 + 2 * costs.in_l2(1) + 1_000_000}
    copy = run(system, peer(0, 1, 2 * PACKET + 1)).run.peers[0]
    assert (copy.packets, copy.bytes) == (3, 2 * PACKET + 1)
    assert run(system, peer(0, 1, 0)).run.peers == []


def test_two_links_of_a_pair_are_twice_as_fast():
    one = small_system(2, **NVLINK | {"links": ("0-1",)})
    two = small_system(2, **NVLINK | {"links": ("0-1 x2",)})
    difference = times(one, peer(0, 1))[0, 1] - times(two, peer(0, 1))[0, 1]
    assert difference == SIZE * 20


def test_headers_take_their_share():
    plain = small_system(2)
    headed = small_system(2, **NVLINK | {"payload_bytes": 256, "header_bytes": 16})
    difference = times(headed, peer(0, 1))[0, 1] - times(plain, peer(0, 1))[0, 1]
    assert difference == SIZE * 40 * 16 // 256


def test_an_idle_copy_through_a_switch_is_not_held_up_by_it():
    """A packet goes on when its first bytes have come: there is one time on links for both."""
    system = small_system(4, **NVSWITCH)
    wanted = SIZE * 20 + rest(system, 500_000 + 100_000 + 500_000)
    assert times(system, peer(1, 3)) == {(1, 3): wanted}


def test_copies_that_share_a_link_take_twice_and_others_once():
    system = small_system(4)
    alone = times(system, peer(0, 1))[0, 1]
    apart = times(system, peer(0, 1), peer(2, 3), peer(1, 0), peer(0, 2))
    assert set(apart.values()) == {alone}
    host = run(system, peer(0, 1, stream=1), peer(0, 1, stream=2))
    ends = sorted(copy.end - copy.start for copy in host.run.peers)
    packet = PACKET * 40
    assert ends == [alone + SIZE * 40 - packet, alone + SIZE * 40]


@pytest.mark.parametrize(("ends", "shared"), [([(0, 2), (1, 2)], True), ([(0, 2), (1, 3)], False),
                                              ([(0, 1), (0, 2)], True)])  # fmt: skip
def test_ports_of_a_switch_are_shared(ends, shared):
    system = small_system(4, **NVSWITCH)
    alone, on_link = times(system, peer(0, 2))[0, 2], SIZE * 20
    took = times(system, *(peer(*pair, stream=k) for k, pair in enumerate(ends, 1)))
    if not shared:
        assert set(took.values()) == {alone}
    else:
        assert sorted(took.values()) == [alone + on_link - PACKET * 20, alone + on_link]


def test_three_sources_of_a_port_take_turns():
    took = times(small_system(4, **NVSWITCH), peer(0, 3), peer(1, 3), peer(2, 3))
    values = sorted(took.values())
    assert values[2] - values[0] == 2 * PACKET * 20


def test_few_credits_hold_a_link_up_and_enough_do_not():
    """A credit is back after a packet's time and the link there and back: 1.53 us, 5 packets."""
    fast = times(small_system(2, **NVSWITCH | {"credits": 64}), peer(0, 1))[0, 1]
    trip = PACKET * 20 + 2 * 600_000  # the latency of the link to the switch, with the switch's
    enough = -(-trip // (PACKET * 20))
    assert times(small_system(2, **NVSWITCH | {"credits": enough}), peer(0, 1))[0, 1] == fast
    assert times(small_system(2, **NVSWITCH | {"credits": enough - 1}), peer(0, 1))[0, 1] > fast
    one = times(small_system(2, **NVSWITCH | {"credits": 1}), peer(0, 1))[0, 1]
    assert one == fast + 63 * (trip - PACKET * 20)


def test_without_credits_those_behind_wait_too():
    """GPU 0 sends to a port that two others fill, then to an idle one: it waits in line."""
    few = NVSWITCH | {"credits": 5}
    busy = [peer(1, 3, stream=1), peer(2, 3, stream=1), peer(0, 3, stream=1)]
    system = small_system(5, **few)
    alone = times(system, peer(0, 4, stream=2))[0, 4]
    assert times(system, *busy, peer(0, 4, stream=2))[0, 4] > 1.8 * alone


def test_a_pcie_switch_shares_links_with_the_hosts_copies():
    """Page by page in turn, of the same size: both take twice as long, on the shared link alone."""
    page = 4096
    system = small_system(2, **PCIE | {"packet_bytes": page})
    costs = host_of_system(system).seats[0].costs
    on_link = SIZE // page * costs.on_link(page)
    alone = run(system, peer(0, 1)).run.peers[0].end
    assert alone == on_link + 2 * costs.in_l2(page) + 4 * costs.latency
    down = [SetDevice(1), MemoryCopy(1 << 40, SIZE, stream=3, blocking=False)]
    both = run(system, peer(0, 1), down)
    (between,), (copy,) = both.run.peers, both.run.copies
    (link,) = [link for link in both.run.links if link.bytes == 2 * SIZE]
    assert link.name == "host > GPU 1" and len(link.spans) <= 2
    assert 1.9 * on_link < between.end < 2 * on_link + 3_000_000
    assert 1.9 * on_link < copy.end < 2 * on_link + 3_000_000
    up = [SetDevice(1), MemoryCopy(1 << 40, SIZE, Direction.TO_HOST, 3, blocking=False)]
    assert run(system, peer(0, 1), up).run.peers[0].end == alone


def test_a_copy_by_way_of_the_host_takes_its_links():
    system = small_system(2)
    host = run(system, peer(0, 1, staged=True))
    used = [link.name for link in host.run.links if link.bytes]
    assert used == ["GPU 0 > host", "host > GPU 1"] and host.run.peers[0].staged
    assert [link.bytes for link in host.run.links if link.bytes] == [SIZE, SIZE]


def test_what_a_link_tells():
    host = run(small_system(2), peer(0, 1))
    (link,) = [link for link in host.run.links if link.bytes]
    assert (link.name, link.gb_per_s, link.bytes, link.packets) == ("GPU 0 > GPU 1", 25, SIZE, 64)
    assert link.busy == SIZE * 40 and len(link.spans) == 1
    assert link.utilisation(2 * link.busy) == 0.5 and link.utilisation(0) == 0


def test_an_event_of_one_gpu_is_waited_for_on_another():
    system = small_system(3)
    record = [SetDevice(0), RecordEvent(7, 1), SetDevice(1), WaitEvent(7, 1)]
    first, second = run(system, peer(0, 1), record, peer(1, 2)).run.peers
    assert second.start == first.end
    assert run(system, peer(0, 1), peer(1, 2)).run.peers[1].start == first.start


def test_a_packet_is_at_the_gpu_that_it_goes_to():
    host = run(small_system(3), peer(0, 2, 2 * PACKET))
    pages = [len(seat.arrivals(1 << 40)) for seat in host.seats]
    assert pages == [0, 0, 2]


@pytest.mark.parametrize("seed", range(6))
def test_a_link_carries_all_bytes_and_is_never_idle_while_packets_wait(seed):
    """Random copies over one link: the last one ends when the link could, whatever the turns."""
    draw, system = random.Random(seed), small_system(2)
    sizes = [draw.randrange(1, 40) * PACKET for _ in range(draw.randrange(1, 9))]
    host = run(system, *(peer(0, 1, size, stream=k + 1) for k, size in enumerate(sizes)))
    (link,) = [link for link in host.run.links if link.bytes]
    assert link.bytes == sum(sizes) and len(link.spans) == 1
    last = max(copy.end for copy in host.run.peers)
    assert last == sum(sizes) * 40 + rest(system, 500_000)
    shortest = min(range(len(sizes)), key=lambda k: sizes[k])
    first = min(host.run.peers, key=lambda copy: copy.end)
    assert first.bytes == sizes[shortest], "who shares fairly ends by size"


def test_direction_of_copies_between_gpus():
    assert peer(0, 1)[1].direction is Direction.PEER


class Noted:
    """A message that notes when it leaves and arrives."""

    def __init__(self, fabric, source, to):
        self.route, self.left, self.arrived = fabric.route(source, to, False), False, 0

    def leave(self):
        self.left = True

    def arrive(self, time):
        self.arrived = time


def carried(system, sizes, source=0, to=1, ready=0):
    """Messages of one GPU that are ready at once: when each arrives."""
    fabric = host_of_system(system).fabric
    messages = [Noted(fabric, source, to) for _ in sizes]
    for message, size in zip(messages, sizes):
        fabric.carry(message, source, size, ready)
    while fabric.next < NEVER:
        assert fabric.step() is None
    assert all(message.left for message in messages)
    return [message.arrived for message in messages]


def test_messages_cross_a_link_one_after_the_other_each_with_a_header():
    system = small_system(2, **NVLINK | {"payload_bytes": 256, "header_bytes": 16})
    first, second, third = carried(system, [0, 128, 32], ready=7000)
    assert first == 7000 + 16 * 40 + 500_000
    assert (second - first, third - second) == (144 * 40, 48 * 40)


def test_a_message_passes_a_switch_cut_through():
    system = small_system(2, **NVSWITCH | {"payload_bytes": 256, "header_bytes": 16})
    assert carried(system, [128]) == [144 * 20 + 1_100_000]


def test_a_switch_has_room_for_messages_by_their_bytes():
    """They are sent as long as there is room for a whole packet: 129 of the room of two."""
    fabric = NVSWITCH | {"credits": 2, "packet_bytes": 16384}
    arrived = carried(small_system(2, **fabric), [128] * 130)
    gaps = [after - before for before, after in itertools.pairwise(arrived)]
    assert gaps[:-1] == [128 * 20] * 128 and gaps[-1] > 128 * 20


def test_a_turn_of_messages_is_as_long_as_a_packet_of_a_copy():
    """A copy of 2 packets, and messages of 3: they take the link in turns, and none waits more."""
    system = small_system(2)
    host = host_of_system(system)
    host.take(peer(0, 1, 2 * PACKET))
    fabric = host.fabric
    host.advance(1, 1)
    start = fabric.next
    messages = [Noted(fabric, 0, 1) for _ in range(3 * PACKET // 128)]
    for message in messages:
        fabric.carry(message, 0, 128, start)
    host.advance(NEVER, NEVER)
    arrived = [message.arrived - start - 500_000 for message in messages]
    each, turn = 128 * 40, PACKET * 40
    assert (arrived[0], arrived[127], arrived[128]) == (turn + each, 2 * turn, 3 * turn + each)
    assert arrived[-1] == 5 * turn and host.done

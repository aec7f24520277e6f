"""The fabric of a system: copies between GPUs, packet by packet over the links of their way.

A packet goes on as soon as its first bytes are there, but not so early that its last ones would
come too late. Of the packets that wait for a link those of each source take turns; a source is a
copy where it enters the fabric, and in a switch the link by which packets come. A switch holds
``credits`` packets of each GPU: one more is not sent before one has left, and those behind it wait
as well, wherever they go.

Accesses of kernels are packets of their own, a request or a reply each. Those of a GPU are one
source where they enter; a turn of theirs is as many bytes as a packet of a copy may have, and so is
the room that they take in a switch.
"""

import heapq
from collections import deque
from fractions import Fraction
from itertools import count
from typing import Protocol

import msgspec

from lockstep.engine.host.copy_link import CopyLink, LinkRun
from lockstep.engine.host.costs import Costs
from lockstep.engine.host.engines import Page
from lockstep.engine.host.operation import Operation
from lockstep.engine.host.record import PeerRun
from lockstep.gpus.system import GpuSystem
from lockstep.host_calls import Direction, PeerCopy
from lockstep.model.clock import NEVER


class Message(Protocol):
    """An access of a kernel, or its answer, as far as the fabric knows it."""

    route: tuple["FabricLink", ...]

    def leave(self) -> None:
        """It is on the first link of its way."""
        ...

    def arrive(self, time: int) -> None:
        """It will be at the end of its way at a time."""
        ...


class PeerTransfer(msgspec.Struct, eq=False):
    """A copy under way; ``address`` is where it goes."""

    operation: Operation
    run: PeerRun
    route: tuple["FabricLink", ...]
    sent: int = 0  # bytes that have been given to the first link
    arrived: int = 0


class Packet(msgspec.Struct, eq=False):
    """Some bytes of a copy, or a message, ready for one link of its way."""

    cargo: PeerTransfer | Message
    offset: int
    bytes: int
    charge: int  # bytes of a turn, and of a switch's room, that it takes
    hop: int = 0
    ready: int = 0
    holds: "FabricLink | None" = None  # whose credit it has, while it is in a switch


class FabricLink:
    """One link: its wire, who waits for it, and how many bytes its far end takes."""

    def __init__(
        self,
        wire: CopyLink,
        gb_per_s: float,
        latency: int,
        turn: int,
        credits: int | None = None,
    ):
        """``latency``: to where the next link begins; ``turn``: bytes of a packet at most.

        ``credits``: in bytes, None for no limit.
        """
        self.wire, self.latency, self.credits = wire, latency, credits
        self._turn, self._used = turn, 0  # bytes of the turn, and by whom they were taken
        self._last: object = None
        self._bandwidth = Fraction(gb_per_s).limit_denominator(10**6)
        self.waiting: dict[object, deque[Packet]] = {}  # by source, whose turn it is first
        self.wakes = NEVER  # when it looks next

    def time(self, size: int) -> int:
        """Picoseconds of bytes, those of headers included."""
        return -(-1000 * size // self._bandwidth)

    def offer(self, source: object, packet: Packet) -> None:
        """Let a packet wait."""
        self.waiting.setdefault(source, deque()).append(packet)

    @property
    def is_blocked(self) -> bool:
        """Whether its far end may have no room for a packet."""
        return self.credits is not None and self.credits < self._turn

    def take(self, now: int) -> Packet | None:
        """The packet whose turn it is of those that are ready.

        Its source is last from now on, unless it has not used its turn up.
        """
        for source, packets in self.waiting.items():
            if packets[0].ready <= now:
                packet = packets.popleft()
                used = packet.charge + (self._used if source is self._last else 0)
                self._last, self._used = source, used if used < self._turn else 0
                if not packets or self._used == 0:
                    del self.waiting[source]
                    if packets:
                        self.waiting[source] = packets
                return packet
        return None

    @property
    def earliest(self) -> int:
        """When the next packet is ready, or NEVER."""
        return min([packets[0].ready for packets in self.waiting.values()], default=NEVER)


class Fabric:
    """All links between the GPUs of a system, and those to the host that copies may take."""

    def __init__(
        self, system: GpuSystem, costs: list[Costs], wires: dict[tuple[int, Direction], CopyLink]
    ):
        """``wires``: of each GPU's link to the host."""
        self._system, self._costs, self._spec = system, costs, system.spec.fabric
        self._events: list[tuple[int, int, FabricLink, int]] = []  # a heap; credits that are back
        self.copies = 0  # under way
        self._number = count()
        self.runs: list[LinkRun] = []
        self._host = {
            (k, direction): FabricLink(wires[k, direction], gpu.host.link_bandwidth,
                                       gpu.host.link_latency, self._spec.packet_bytes)
            for k, gpu in enumerate(system.gpus)
            for direction in (Direction.TO_DEVICE, Direction.TO_HOST)
        }  # fmt: skip
        self._direct: dict[tuple[int, int], FabricLink] = {}  # from one GPU to another
        self._up: list[FabricLink] = []  # from each GPU to the switch
        self._down: list[FabricLink] = []
        self._lay()

    def _lay(self) -> None:
        """Make the links."""
        spec = self._spec
        if spec.topology == "nvlink":
            for pair, several in sorted(self._system.links.items()):
                for one, other in (pair, pair[::-1]):
                    name = f"GPU {one} > GPU {other}"
                    self._direct[one, other] = self._link(name, several, None)
        elif spec.topology == "nvswitch":
            for k in range(len(self._costs)):
                up = self._link(f"GPU {k} > switch", spec.links_per_gpu, spec.credits)
                up.latency += spec.switch_latency
                self._up.append(up)
                self._down.append(self._link(f"switch > GPU {k}", spec.links_per_gpu, None))

    def _link(self, name: str, several: int, credits: int | None) -> FabricLink:
        run, turn = LinkRun(name, self._spec.bandwidth * several), self._spec.packet_bytes
        self.runs.append(run)
        room = None if credits is None else credits * turn
        return FabricLink(CopyLink(run), run.gb_per_s, self._spec.latency, turn, room)

    def route(self, source: int, to: int, staged: bool) -> tuple[FabricLink, ...]:
        """The links between two GPUs; ``staged``: by way of the host, as without access."""
        if staged or self._spec.topology == "pcie":
            return self._host[source, Direction.TO_HOST], self._host[to, Direction.TO_DEVICE]
        if self._spec.topology == "nvswitch":
            return self._up[source], self._down[to]
        return (self._direct[source, to],)

    def request(self, operation: Operation) -> None:
        """Begin a copy, which is ready; its first packet is read in the L2 before it leaves."""
        copy = operation.copy
        assert isinstance(copy, PeerCopy), "the fabric is between GPUs"
        route = self.route(copy.source, copy.to, copy.staged)
        run = PeerRun(copy.source, copy.to, copy.stream, copy.bytes, copy.staged, operation.ready)
        transfer = PeerTransfer(operation, run, route)
        self.copies += 1
        size = min(self._spec.packet_bytes, copy.bytes)
        self._send_next(transfer, operation.ready + self._costs[copy.source].in_l2(size))

    def carry(self, message: Message, source: int, size: int, ready: int) -> None:
        """Carry a message with so many bytes, a header aside, that a GPU has ready at a time.

        Messages of a GPU come in the order in which they are ready.
        """
        charge = self._spec.on_link(size)
        packet = Packet(message, 0, size, charge, ready=ready)
        self._offer(message.route[0], self._costs[source], packet)

    def _send_next(self, transfer: PeerTransfer, ready: int) -> None:
        """Offer the next packet of a copy to its first link."""
        left = transfer.run.bytes - transfer.sent
        if left:
            size = min(self._spec.packet_bytes, left)
            packet = Packet(transfer, transfer.sent, size, self._spec.packet_bytes, ready=ready)
            transfer.sent += size
            self._offer(transfer.route[0], transfer, packet)

    def _offer(self, link: FabricLink, source: object, packet: Packet) -> None:
        link.offer(source, packet)
        self._wake(link, max(packet.ready, link.wire.free))

    def _wake(self, link: FabricLink, time: int) -> None:
        """Let a link look for packets, at that time at the latest."""
        if time < link.wakes:
            link.wakes = time
            heapq.heappush(self._events, (time, next(self._number), link, 0))

    @property
    def next(self) -> int:
        """When something happens next, or NEVER."""
        return self._events[0][0] if self._events else NEVER

    def step(self) -> tuple[Page, PeerTransfer, bool] | None:
        """Do that; the packet that left the last link of its way, and whether its copy ends."""
        now, _, link, credit = heapq.heappop(self._events)
        if credit:
            assert link.credits is not None, "it was taken"
            link.credits += credit
            self._wake(link, max(now, link.wire.free))
            return None
        if now != link.wakes:  # it has looked before
            return None
        link.wakes = NEVER
        if link.wire.free > now:  # the host's copies were first
            self._wake(link, link.wire.free)
            return None
        packet = None if link.is_blocked else link.take(now)
        if packet is None:
            if link.waiting and not link.is_blocked:
                self._wake(link, link.earliest)
            return None
        return self._send(link, packet, now)

    def _send(
        self, link: FabricLink, packet: Packet, now: int
    ) -> tuple[Page, PeerTransfer, bool] | None:
        cargo, on_link = packet.cargo, self._spec.on_link(packet.bytes)
        time = link.time(on_link)
        link.wire.take("fabric", now, time, packet.bytes)
        if packet.holds is not None:
            back = now + time + packet.holds.latency
            heapq.heappush(self._events, (back, next(self._number), packet.holds, packet.charge))
        if link.credits is not None:
            link.credits -= packet.charge
        if packet.hop == 0:
            if isinstance(cargo, PeerTransfer):
                self._send_next(cargo, now)
            else:
                cargo.leave()
        if link.waiting:
            self._wake(link, link.wire.free)
        arrives = now + time + link.latency
        if packet.hop + 1 == len(cargo.route):
            if isinstance(cargo, PeerTransfer):
                return self._arrive(packet, cargo, arrives)
            cargo.arrive(arrives)
            return None
        further = cargo.route[packet.hop + 1]
        packet.hop += 1
        packet.holds = link if link.credits is not None else None
        packet.ready = max(now + link.latency, arrives - further.time(on_link))
        self._offer(further, link, packet)
        return None

    def _arrive(
        self, packet: Packet, transfer: PeerTransfer, time: int
    ) -> tuple[Page, PeerTransfer, bool]:
        """A packet will be there; the copy ends when its last one is written and acknowledged."""
        run = transfer.run
        transfer.arrived += packet.bytes
        back = sum(link.latency for link in transfer.route)
        run.packets += 1
        run.end = max(run.end, time + self._costs[run.to].in_l2(packet.bytes) + back)
        page = Page(time, transfer.operation.copy.address + packet.offset, packet.bytes)
        ends = transfer.arrived == run.bytes
        self.copies -= ends
        return page, transfer, ends

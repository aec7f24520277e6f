"""Accesses of kernels to the memory of other GPUs, on their way over the fabric.

A request leaves its SM through the crossbar to the GPU's *port*, crosses the links to the other
GPU, and goes through the crossbar there to the L2 slice that has the line's home; the reply comes
back the same way, data in one piece: the port waits until the L2 has given all that a request asks
for. Ports are between two windows: what the shards of a GPU have sent in a window is
collected when it has ended, and is at the port a window after it was sent. So nothing is known too
late, whatever the latencies of links are.
"""

import heapq
from collections.abc import Sequence
from itertools import count

import msgspec
import numpy as np

from lockstep.engine.host.fabric import Fabric, FabricLink
from lockstep.engine.host.seat import HostSeat
from lockstep.engine.simulation import Simulation
from lockstep.gpus.system import GpuSystem
from lockstep.model.clock import NEVER
from lockstep.model.link import (
    KIND_ATOMIC,
    KIND_DATA,
    KIND_NACK,
    KIND_READ,
    KIND_REDUCTION,
    KIND_WRITE,
    MESSAGE,
    OUTBOXES,
    Link,
)
from lockstep.model.modules import homes
from lockstep.model.modules.state import MemoryPlace
from lockstep.model.records import records
from lockstep.plain_bytes import plain

STRIDE = 1 << 16  # between the numbers of requesters of two GPUs: no GPU has as many SMs
_SECTORS = np.array([mask.bit_count() for mask in range(256)])
_CARRIES = (KIND_WRITE, KIND_ATOMIC, KIND_REDUCTION, KIND_DATA)  # sectors
_ANSWERED_WITH_DATA = (KIND_READ, KIND_ATOMIC)
_KEY = ("kind", "source", "tag", "address")


def places(system: GpuSystem, memories: Sequence[tuple[int, int]]) -> list[MemoryPlace]:
    """Where the memories of GPUs are, for each of those whose kernels' accesses cross the fabric.

    ``memories``: address and bytes of each GPU's. L1s must ask for lines that the other L2s have;
    of a GPU with modules or with a protocol of coherence accesses stay as if in its own memory.
    """
    shapes = {(gpu.l2.line_bytes, gpu.l2.sector_bytes) for gpu in system.gpus}
    able = len(shapes) == 1 and all(
        gpu.modules.count == 1 and gpu.coherence.table == "none" and gpu.core == "sm"
        for gpu in system.gpus
    )
    if len(memories) < 2 or not able:
        return []
    low, high = memories[0][0], sum(memories[-1])
    return [MemoryPlace(low, high, address, address + size) for address, size in memories]


class PeerMessage(msgspec.Struct, eq=False):
    """A request or a reply between two GPUs, with what it brings."""

    route: tuple[FabricLink, ...]
    traffic: "PeerTraffic"
    sender: "PeerPort"
    receiver: "PeerPort"
    asks: bool  # a request
    shard: int  # that sent it
    target: int  # the shard that it is for
    row: np.void  # MESSAGE, as plain bytes

    def leave(self) -> None:
        """It is on the first link of its way."""
        if self.asks:
            self.sender.give_back(self.shard)

    def arrive(self, time: int) -> None:
        """It will be at the other GPU at a time, in picoseconds."""
        self.receiver.take(self, time)
        self.traffic.arrived(self.receiver)


class PeerRequest(msgspec.Struct, eq=False):
    """What a request still asks for; bits are sectors."""

    left: int
    here: int = 0  # that the L2 has given
    flits: int = 0  # ... in so many
    data: np.ndarray | None = None  # the last MESSAGE with any


class Outboxes:
    """What the sources of a link send in a window."""

    def __init__(self, link: Link):
        self._begun, self._sent = link.begun, link.sent
        self._rows = plain(link.outbox)

    def collect(self) -> list[np.ndarray]:
        """What they have sent in the last window, each source in its order."""
        turn = int(self._begun[0]) % OUTBOXES
        counts = self._sent[turn].tolist()
        return [self._rows[turn, s, :n] for s, n in enumerate(counts) if n]


class Inboxes:
    """Where messages lie until the destinations of a link take them."""

    def __init__(self, link: Link):
        self._rows, self._room = plain(link.inbox), link.inbox.shape[1]
        self._arrivals = link.inbox.view(np.ndarray)["arrival"]
        ports = link.ports.view(np.ndarray)
        self._heads, self._counts = ports["head"], ports["count"]

    def put(self, destination: int, row: np.void, cycle: int) -> bool:
        """Let a message lie there from a cycle on; whether there is room."""
        n = int(self._counts[destination])
        if n == self._room:
            return False
        place = (int(self._heads[destination]) + n) % self._room
        self._rows[destination, place] = row
        self._arrivals[destination, place] = cycle
        self._counts[destination] = n + 1
        return True


class PeerPort:
    """A GPU's end of the fabric: what its shards have sent, and what is on its way to them."""

    def __init__(self, simulation: Simulation, seat: HostSeat):
        self.simulation, self.clock = simulation, seat.costs.clock
        machine = simulation.machine
        between, gpu = machine.links.between, machine.gpu
        self._out = Outboxes(between.requests), Outboxes(between.replies)
        self._into = Inboxes(between.to_sms), Inboxes(between.to_partitions)
        self._places = between.requests.credits  # of each SM
        self._free = between.replies.credits
        self._free_at_first = self._free.copy()
        self._crossbar, self._memory = gpu.interconnect.latency, machine.memory
        self.sms, self.sector_bytes = gpu.sm.count, gpu.l2.sector_bytes
        self._asked: dict[tuple[int, int, int], list[PeerRequest]] = {}  # of others, of its L2
        self._waiting: list[tuple[int, int, PeerMessage]] = []  # by arrival at shards, a heap
        self._number = count()
        self._serves = False  # requests of others have come to its L2

    # What its shards send

    def collect(self) -> np.ndarray:
        """What shards have sent in the last window, in the order in which it is at the port."""
        self._serves &= not self.simulation.is_idle
        found = [rows for box in self._out for rows in box.collect()]
        if not found:
            return np.zeros(0, MESSAGE)
        self._free[...] = self._free_at_first
        rows = np.concatenate(found)
        return rows[np.argsort(rows.view(MESSAGE)["arrival"], kind="stable")].view(MESSAGE)

    def give_back(self, sm: int) -> None:
        """A request has left: its SM may send another one."""
        self._places[sm, 0] += 1

    def expect(self, rows: np.ndarray) -> None:
        """Others ask for this: find the L2 slices that have the lines, and note what they ask."""
        asked = records(len(rows), MESSAGE)
        asked.view(np.ndarray)[...] = rows
        homes.find(self._memory, asked, len(rows))
        rows[...] = asked.view(np.ndarray)
        for kind, source, tag, address, sectors in zip(*_columns(rows, *_KEY, "sectors")):
            if kind in _ANSWERED_WITH_DATA:
                request = PeerRequest(sectors)
                self._asked.setdefault((source, tag, address), []).append(request)

    def gather(self, rows: np.ndarray) -> np.ndarray:
        """Of what shards send, what leaves: of data of a request the last piece, with all of it.

        Where the L2 refuses the rest, what it gave leaves with the refusal.
        """
        stays = np.ones(len(rows), bool)
        more: list[np.ndarray] = []
        columns = _columns(rows, *_KEY, "sectors", "flits")
        for k, (kind, source, tag, address, sectors, flits) in enumerate(zip(*columns)):
            if kind not in (KIND_DATA, KIND_NACK):
                continue
            requests = self._asked[source, tag, address]
            request = next(each for each in requests if each.left & sectors)
            request.left &= ~sectors
            if kind == KIND_DATA:
                request.here |= sectors
                request.flits += flits
                rows["sectors"][k], rows["flits"][k] = request.here, request.flits
                stays[k], request.data = request.left == 0, rows[k : k + 1].copy()
            elif request.left == 0 and request.data is not None:
                request.data["arrival"] = rows["arrival"][k]
                more.append(request.data)
            if request.left == 0:
                requests.remove(request)
                if not requests:
                    del self._asked[source, tag, address]
        rows = np.concatenate([rows[stays], *more])
        return rows[np.argsort(rows["arrival"], kind="stable")] if more else rows

    # What comes

    def take(self, message: PeerMessage, time: int) -> None:
        """A message is here at a time; shards have it a crossbar later."""
        cycle = self.clock.cycle(time) + self._crossbar
        heapq.heappush(self._waiting, (cycle, next(self._number), message))

    def place(self) -> None:
        """Let shards find what arrives in the window that comes, as far as they have room."""
        simulation = self.simulation
        end = simulation.now + simulation.machine.window
        late: list[tuple[int, int, PeerMessage]] = []
        full: set[tuple[bool, int]] = set()
        while self._waiting and self._waiting[0][0] < end:
            cycle, number, message = heapq.heappop(self._waiting)
            to = message.asks, message.target
            if to in full or not self._into[message.asks].put(message.target, message.row, cycle):
                full.add(to)
                late.append((cycle, number, message))
                continue
            self._serves |= message.asks
        for each in late:
            heapq.heappush(self._waiting, each)

    def wake(self) -> None:
        """Let the GPU go on no later than where a message arrives."""
        if self._waiting:
            self.simulation.wake(self._waiting[0][0])

    @property
    def is_busy(self) -> bool:
        """Whether messages have come that shards have not got, or the L2 may serve others."""
        return self._serves or bool(self._waiting)

    @property
    def ahead(self) -> int:
        """When a window would end that begins with the next message, in picoseconds, or NEVER."""
        if not self._waiting:
            return NEVER
        return self.clock.time(self._waiting[0][0] + self.simulation.machine.window)


def _columns(rows: np.ndarray, *names: str) -> list[list[int]]:
    return [rows[name].tolist() for name in names]


class PeerTraffic:
    """All ports, and what is on its way between them."""

    def __init__(
        self, simulations: Sequence[Simulation], seats: Sequence[HostSeat], fabric: Fabric
    ):
        self.ports = [PeerPort(*pair) for pair in zip(simulations, seats)]
        self._fabric = fabric
        self._firsts = np.array([seat.place.first for seat in seats if seat.place])
        self.on_links = 0  # messages that have not arrived at a port
        self.horizon = NEVER  # in picoseconds

    @property
    def under_way(self) -> bool:
        """Whether any message is on its way, or in the L2 of a GPU for another one."""
        return bool(self.on_links) or any(port.is_busy for port in self.ports)

    def limit(self, horizon: int) -> None:
        """Nothing may go on beyond a time, nor beyond the first window that a message begins."""
        self.horizon = min(horizon, *(port.ahead for port in self.ports))

    def arrived(self, port: PeerPort) -> None:
        """A message has come to a port."""
        self.on_links -= 1
        self.horizon = min(self.horizon, port.ahead)

    def advance(self, time: int) -> None:
        """Let messages go on, no copies, before a time and the horizon."""
        fabric = self._fabric
        while fabric.next < min(time, self.horizon):
            fabric.step()

    def collect(self, number: int) -> None:
        """Give the fabric what a GPU has sent in a window that has ended."""
        sender = self.ports[number]
        rows = sender.collect()
        if not len(rows):
            return
        rows = sender.gather(rows)
        shards, targets = self._address(rows, number)
        carries = np.isin(rows["kind"], _CARRIES)
        sizes = carries * _SECTORS[rows["sectors"]] * sender.sector_bytes
        columns = _columns(rows, "arrival", "kind", "destination")
        for row, arrival, kind, target, size, shard, k in zip(
            plain(rows), *columns, sizes.tolist(), shards, targets
        ):
            route = self._fabric.route(number, k, False)
            ends = self, sender, self.ports[k], kind < KIND_DATA
            message = PeerMessage(route, *ends, shard, target, row)
            self._fabric.carry(message, number, size, sender.clock.time(arrival))
        self.on_links += len(rows)

    def _address(self, rows: np.ndarray, number: int) -> tuple[list[int], list[int]]:
        """Write into messages of a GPU whom they are for: ``(shards that sent them, GPUs)``.

        Requesters have the numbers of an SM there, behind those of the GPU that they ask.
        """
        asks, shards = rows["kind"] < KIND_DATA, rows["source"].tolist()
        requesters = rows["source"] - self.ports[number].sms
        homes_of = np.searchsorted(self._firsts, rows["address"], "right") - 1
        targets = np.where(asks, homes_of, requesters // STRIDE)
        rows["destination"] = requesters % STRIDE  # of replies
        for k in set(targets[asks].tolist()):
            mine, home = asks & (targets == k), self.ports[k]
            there = rows[mine]
            there["source"] += home.sms + number * STRIDE
            home.expect(there)
            rows[mine] = there
        return shards, targets.tolist()

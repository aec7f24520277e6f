"""Copy engines: copies page by page over the link of one direction.

An engine has one copy at a time. A page of it leaves when its turn has come: the first
``outstanding`` ones at once, each other one when the page that many before it was acknowledged. A
link carries one page after the other: of engines whose pages wait for it, that which had it longest
ago is next.
"""

from collections import deque

import msgspec

from lockstep.engine.host.copy_link import CopyLink
from lockstep.engine.host.costs import Costs
from lockstep.engine.host.operation import Operation
from lockstep.engine.host.record import CopyRun
from lockstep.host_calls import Direction
from lockstep.model.clock import NEVER


class Transfer(msgspec.Struct):
    """A copy under way on an engine."""

    operation: Operation
    run: CopyRun
    sent: int = 0  # bytes that have left
    flying: deque[int] = msgspec.field(default_factory=deque)  # when pages are acknowledged
    wants: int = 0  # when the next page may leave
    turn: int = 0  # how many pages of all copies had left when one of it did last

    @property
    def size(self) -> int:
        """Bytes that have not left."""
        return self.run.bytes - self.sent


class Page(msgspec.Struct, frozen=True):
    """One that has left."""

    arrives: int  # at the other end of the link
    address: int
    bytes: int


class CopyEngines:
    """The engines of one direction."""

    def __init__(
        self,
        costs: Costs,
        direction: Direction,
        count: int,
        wire: CopyLink | None = None,
        gpu: int = 0,
    ):
        """``wire``: the link, which others may use; ``gpu``: which of a system."""
        self._costs, self.direction, self._gpu = costs, direction, gpu
        self.wire = wire or CopyLink()
        self._free_at = [0] * count  # since when an engine has nothing to do; NEVER: it is busy
        self._waiting: deque[Operation] = deque()
        self._busy: list[Transfer] = []
        self._turn = 0

    def request(self, operation: Operation) -> None:
        """Begin a copy, which is ready, or let it wait for an engine."""
        self._waiting.append(operation)
        self._begin()

    def release(self, run: CopyRun) -> None:
        """A copy has ended: its engine takes the next one."""
        self._free_at[run.engine] = run.end
        self._begin()

    def _begin(self) -> None:
        while self._waiting and min(self._free_at) < NEVER:
            operation = self._waiting.popleft()
            engine = self._free_at.index(min(self._free_at))
            start = max(operation.ready, self._free_at[engine])
            self._free_at[engine] = NEVER
            copy = operation.copy
            run = CopyRun(self.direction, engine, copy.stream, copy.address, copy.bytes, start,
                          gpu=self._gpu)  # fmt: skip
            self._busy.append(Transfer(operation, run, wants=start))

    @property
    def next(self) -> int:
        """When the next page leaves, or NEVER."""
        return min([self._leaves(t) for t in self._busy], default=NEVER)

    def _leaves(self, transfer: Transfer) -> int:
        """When the next page of a copy is on the link, if no other one comes before.

        The GPU is asked for one to the host, and reads it, before.
        """
        costs, asked = self._costs, 0
        if self.direction is Direction.TO_HOST:
            asked = costs.latency + costs.in_l2(min(costs.page_bytes, transfer.size))
        return max(transfer.wants + asked, self.wire.free)

    def carry(self, ready: int, size: int) -> tuple[int, int]:
        """Let something else over the link that is ready at a time: when it leaves, and arrives."""
        leaves = max(ready, self.wire.free)
        self.wire.take("engines", leaves, self._costs.on_link(size), size)
        return leaves, self.wire.free + self._costs.latency

    def step(self) -> tuple[Page, Transfer | None]:
        """Let that page leave; with it the copy, if it was the last one: its end is known."""
        transfer = min(self._busy, key=lambda t: (self._leaves(t), t.turn, t.run.engine))
        run, costs, leaves = transfer.run, self._costs, self._leaves(transfer)
        size = min(costs.page_bytes, transfer.size)
        link, device = costs.on_link(size), costs.in_l2(size)
        self.wire.take("engines", leaves, link, size)
        self._turn += 1
        arrives = end = leaves + link + costs.latency
        if self.direction is Direction.TO_DEVICE:
            end += device + costs.latency
        page = Page(arrives, run.address + transfer.sent, size)
        transfer.turn = self._turn
        transfer.sent += size
        transfer.flying.append(end)
        run.pages, run.link = run.pages + 1, run.link + link + 2 * costs.latency
        run.device, run.end = run.device + device, max(run.end, end)
        if transfer.size == 0:
            self._busy.remove(transfer)
            return page, transfer
        if len(transfer.flying) == costs.outstanding:
            transfer.wants = max(transfer.wants, transfer.flying.popleft())
        return page, None

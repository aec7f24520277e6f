"""The memory side alone, behind real links: tests play the SMs."""

from collections import defaultdict, deque
from types import SimpleNamespace

import numpy as np

from lockstep.gpus import library
from lockstep.model import contents, link, partition
from lockstep.model.cache.prefetch import registry
from lockstep.model.cache.tags import NO_LINE
from lockstep.model.link import KIND_ATOMIC, KIND_READ, KIND_WRITE, MESSAGE
from lockstep.model.modules.pages import slice_of
from model.owned import of_owner

LATENCY = 5  # of either link, so the length of a window
HIT = 20  # cycles
MISS = 90
SMALL = {
    "clock_mhz": 1000.0,
    "l2.clock_mhz": 1000.0,
    "interconnect.clock_mhz": 1000.0,
    "interconnect.reply_header_bytes": 0,
    "dram.clock_mhz": 1000.0,
    "dram.channels": 1,
    "dram.refresh": False,
    "dram.banks": 4,
    "dram.bank_groups": 1,
    "dram.row_bytes": 512,
    "l2.slices_per_channel": 1,
    "l2.sets": 4,
    "l2.ways": 2,
    "l2.set_hash": "linear",
    "l2.interleave_bytes": 128,
}


class MemorySide:
    """Memory partitions, their links, and SMs that send what they are told and note replies.

    Keywords are changes to the GPU, with ``__`` for the dot.
    """

    def __init__(self, sources=1, buffer=16, reply_buffer=16, policies=None, log=0, **changes):
        changes = {name.replace("__", "."): value for name, value in changes.items()}
        self.gpu = gpu = library.replace(library.gpu("QV100"), **SMALL | changes)
        channels = gpu.dram.channels
        self.blocks = [(0, channels)]  # of partitions, one a thread
        self.requests = link.build(sources, channels, LATENCY, buffer, 1, 2)
        self.answers = link.build(
            channels, sources, LATENCY, reply_buffer, gpu.l2.slices_per_channel
        )
        policies = partition.compile_policies(registry.chosen(gpu) | (policies or {}))
        self.memory = partition.build(gpu, self.requests, HIT, MISS, policies, log)
        self.now, self.sent = 0, 0
        self.waiting = [deque() for _ in range(sources)]
        self.free = [0] * sources  # cycle at which a source's port is
        self.replies = []
        self.repeat = None  # cycles until a refused request is sent again

    # What an SM sends

    def send(self, kind, address, sectors=0b1111, full=None, source=0, at=None, **more):
        """Have a source send a request in a cycle or as soon as it can; its tag."""
        tag = self.sent
        self.sent += 1
        self.waiting[source].append(
            SimpleNamespace(
                kind=kind,
                address=address,
                sectors=sectors,
                full=sectors if full is None else full,
                tag=tag,
                at=self.now if at is None else at,
                policy=more.pop("policy", 0),
                flits=more.pop("flits", 1),
                refusals=0,
            )
        )
        assert not more
        return tag

    def read(self, address, sectors=0b1111, **more):
        return self.send(KIND_READ, address, sectors, **more)

    def write(self, address, sectors=0b1111, full=None, **more):
        return self.send(KIND_WRITE, address, sectors, full, **more)

    def atomic(self, address, sectors=0b1, kind=KIND_ATOMIC, **more):
        return self.send(kind, address, sectors, **{"full": 1} | more)

    # Time

    def window(self):
        """All shards through one window."""
        start, end = self.now, self.now + LATENCY
        sources = len(self.waiting)
        for s in range(sources):
            link.begin(self.requests, s)
            link.open_inbox(self.answers, s)
            for cycle in range(start, end):
                self._take(s, cycle)
                self._inject(s, cycle)
        for block in self.blocks:
            partition.run(self.memory, self.requests, self.answers, *block, start, end)
        number = int(self.requests.begun[0])
        for joined in (self.requests, self.answers):
            here, there = joined.credits.shape
            link.deliver(joined, number, *of_owner(joined, 0, there), start)
            link.give_back(joined, number, *of_owner(joined, 0, here))
        self.now = end

    def _take(self, source, cycle):
        while link.waiting(self.answers, source, cycle):
            message = link.first(self.answers, source)
            reply = SimpleNamespace(**{n: int(message[n]) for n in MESSAGE.names})
            self.replies.append(reply)
            link.take(self.answers, source)
            if reply.kind == link.KIND_NACK and self.repeat is not None:
                self._repeat(source, reply, cycle)

    def _repeat(self, source, reply, cycle):
        """Send a refused request again, with what the refusal says and nothing else."""
        again = SimpleNamespace(
            **{n: getattr(reply, n) for n in ("address", "sectors", "full", "tag", "policy")},
            kind=reply.request,
            flits=1,
            refusals=reply.refusals + 1,
            at=cycle + self.repeat,
        )
        self.waiting[source].append(again)

    def _inject(self, source, cycle):
        queue = self.waiting[source]
        if not queue or queue[0].at > cycle or self.free[source] > cycle:
            return
        request = queue[0]
        owner = int(
            slice_of(self.memory.slices, request.address, self.memory.l2.policies.slice_hash)
        )
        channel = owner // self.gpu.l2.slices_per_channel
        if not link.can_send(self.requests, source, channel):
            return
        queue.popleft()
        message = link.send(self.requests, source, channel, cycle)
        for name in (
            "kind",
            "address",
            "sectors",
            "full",
            "tag",
            "policy",
            "flits",
            "refusals",
        ):
            message[name] = getattr(request, name)
        message.slice, message.issued = owner, cycle
        self.free[source] = cycle + request.flits

    @property
    def busy(self):
        """Whether anything is under way."""
        return (
            any(self.waiting)
            or not partition.drained(self.memory)
            or self.requests.ports["count"].any()
            or self.answers.ports["count"].any()
        )

    def finish(self, limit=100_000):
        """Run until nothing is under way; the replies since the last call."""
        first = len(self.replies)
        until = self.now + limit
        self.window()
        while self.busy:
            assert self.now < until, "the memory side hangs"
            self.window()
        return self.replies[first:]

    def run_to(self, cycle):
        """Run whole windows up to a cycle."""
        while self.now < cycle:
            self.window()

    # What can be seen

    @property
    def count(self):
        """The counters, summed over partitions."""
        counters = self.memory.counters
        return SimpleNamespace(**{n: int(counters[n].sum()) for n in counters.dtype.names})

    def took(self, reply):
        """Cycles from the arrival of a request to the sending of its reply."""
        return reply.arrival - LATENCY - (reply.issued + LATENCY)

    def answered(self, replies=None):
        """Tag -> what came for it: kind -> sectors of each reply."""
        found = defaultdict(lambda: defaultdict(list))
        for r in self.replies if replies is None else replies:
            found[r.tag][r.kind].append(r.sectors)
        return found

    def way(self, address):
        """State of the way that holds a line, or None."""
        tags = self.memory.l2.tags
        rows, ways = np.nonzero(tags.lines == address // self.gpu.l2.line_bytes ^ NO_LINE)
        if not len(rows):
            return None
        return tags.held[rows[0] * tags.lines.shape[1] + ways[0]]

    def pass_through(self, address, size, written=False):
        """Memory that a profiler saves or restores."""
        contents.pass_through(self.memory, address, size, written)

    def copy(self, address, size):
        """A host copy."""
        contents.copy_to_device(self.memory, address, size)

"""The machine: all shards and links of a GPU, and one window of their time."""

from functools import cache, partial

from lockstep.engine.threads import Team, blocks
from lockstep.gpus.spec import GPU
from lockstep.model import link, partition
from lockstep.model.cache import replacement, slice_hash
from lockstep.model.sm import build as sm_build
from lockstep.model.sm import dispatch, scheduler, sm
from lockstep.model.sm.state import Policies


@cache
def _stand_ins() -> Policies:
    return Policies(
        scheduler.compile_scheduler(scheduler.first_ready),
        replacement.compile_victim(replacement.first_way),
        slice_hash.compile_hash(slice_hash.first_slice),
    )


def compile_policies(user: dict) -> Policies:
    """Machine code of the user's policies for the SMs, and stand-ins for those not given."""
    changes = {}
    if "scheduler" in user:
        changes["scheduler"] = scheduler.compile_scheduler(user["scheduler"])
    if "l1_replacement" in user:
        changes["l1_victim"] = replacement.compile_victim(user["l1_replacement"])
    if "slice_hash" in user:
        changes["slice_hash"] = slice_hash.compile_hash(user["slice_hash"])
    return _stand_ins()._replace(**changes)


class Machine:
    """A GPU's state and the threads that run it."""

    def __init__(self, gpu: GPU, threads: int, policies: dict):
        latency = gpu.interconnect.latency
        sms, channels = gpu.sm.count, gpu.dram.channels
        self.gpu, self.window = gpu, latency
        self.requests = link.build(sms, channels, latency, gpu.interconnect.buffer, 1)
        self.replies = link.build(
            channels, sms, latency, gpu.interconnect.reply_buffer, gpu.l2.slices_per_channel
        )
        self.memory = partition.build(
            gpu,
            self.requests,
            self.replies,
            sm_build.partition_hit_cycles(gpu),
            max(1, gpu.dram.latency - gpu.l2.latency),
            partition.compile_policies(policies),
        )
        self.sm = sm_build.build(gpu, self.memory.slices, compile_policies(policies), set(policies))
        self._team = Team(max(1, min(threads, sms)))
        self._sm_blocks = blocks(sms, self._team.size)
        self._memory_blocks = blocks(channels, self._team.size)

    def close(self) -> None:
        """End the threads."""
        self._team.close()

    def run_window(self, start: int, end: int) -> int:
        """All shards through start <= cycle < end; the earliest event from ``end`` on, or NEVER."""
        event = min(self._team.run([partial(self._run_sms, *b, start, end) for b in self._sm_blocks]))
        memory = [partial(self._run_memory, *b, start, end) for b in self._memory_blocks]
        event = min(event, *self._team.run(memory))
        link.deliver(self.replies, 0, self.gpu.sm.count, start)
        return min(event, link.next_arrival(self.replies))

    def _run_sms(self, first: int, last: int, start: int, end: int) -> int:
        return sm.run(self.sm, self.requests, self.replies, first, last, start, end)

    def _run_memory(self, first: int, last: int, start: int, end: int) -> int:
        link.deliver(self.requests, first, last, start)
        return partition.run(
            self.memory, self.requests, self.replies, first, last, start, end
        )

    def dispatch(self, order, count: int, start: int, end: int) -> int:
        """Dispatch waiting CTAs of the kernel slots ``order[:count]``; how many."""
        return dispatch.dispatch(self.sm, order, count, start, end)

    def copy_to_device(self, address: int, size: int) -> None:
        """A host copy passes through the L2."""
        partition.copy_to_device(self.memory, address, size)

    def prepare_l1(self, ways: int) -> None:
        """A kernel starts alone: its share of the unified memory, empty if kernels flush."""
        dispatch.prepare_l1(self.sm, ways, self.gpu.launch.flush_l1)

    def settle(self, now: int) -> None:
        """Bring all counters up to ``now``."""
        dispatch.settle_all(self.sm, now)


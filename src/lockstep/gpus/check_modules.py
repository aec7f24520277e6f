"""What the modules of a GPU must fulfil together with its other parameters."""

from collections.abc import Iterator

from lockstep.gpus.modules import MOST_LINKS
from lockstep.gpus.spec import GPU

_LEAST_CROSSING = 3  # core cycles through the crossbar, in which it can be cut
_MOST_UNDER_WAY = 1 << 23  # messages for which routers have room


def module_problems(gpu: GPU) -> Iterator[str]:
    """What is wrong with the modules, a line each."""
    modules, k = gpu.modules, gpu.modules.count
    if k == 1:
        return
    because = f"because modules.count is {k}"
    for path, number in (("sm.count", gpu.sm.count), ("dram.channels", gpu.dram.channels)):
        if number % k:
            yield f"{path} = {number}: expected a multiple of modules.count = {k}"
    if modules.topology == "full" and k > MOST_LINKS + 1:
        most = MOST_LINKS + 1
        yield f"modules.count = {k}: expected at most {most}, because modules.topology is full"
    if modules.topology != "full" and modules.hop_latency == 0:
        yield (
            "modules.hop_latency = 0: expected at least 1, because modules.topology is "
            f"{modules.topology}"
        )
    if gpu.interconnect.latency < _LEAST_CROSSING:
        yield (
            f"interconnect.latency = {gpu.interconnect.latency}: expected at least "
            f"{_LEAST_CROSSING}, {because}"
        )
    for path, value, expected in (
        ("core", gpu.core, "sm"),
        ("coherence.protocol", gpu.coherence.protocol, "none"),
        ("l2.sides", gpu.l2.sides, 1),
        ("interconnect.order", gpu.interconnect.order, "sm"),
    ):
        if value != expected:
            yield f"{path} = {value}: expected {expected}, {because}"
    if gpu.sm.count // k % gpu.l2.neighbours:
        yield (
            f"l2.neighbours = {gpu.l2.neighbours}: expected a divisor of the SMs of a module, "
            f"{gpu.sm.count // k}"
        )
    buffers = gpu.interconnect.buffer + gpu.interconnect.reply_buffer
    size = gpu.sm.count * gpu.dram.channels * buffers * k
    if size > _MOST_UNDER_WAY:
        yield (
            f"crossbar buffers of all SMs and channels x modules.count = {size}: expected at most "
            f"{_MOST_UNDER_WAY}, or its state needs gigabytes"
        )
    if modules.pages == "first_touch":
        yield from _first_touch(gpu)


def _first_touch(gpu: GPU) -> Iterator[str]:
    because = "because modules.pages is first_touch"
    size, unit = gpu.modules.page_bytes, gpu.l2.interleave_bytes
    if size & (size - 1):
        yield f"modules.page_bytes = {size}: expected a power of two"
    if size % unit:
        yield f"modules.page_bytes = {size}: expected a multiple of l2.interleave_bytes = {unit}"
    if gpu.l2.prefetcher != "none":
        yield f"l2.prefetcher = {gpu.l2.prefetcher}: expected none, {because}"
    if gpu.host.memory == "migrating":
        yield f"host.memory = migrating: expected discrete or coherent, {because}"

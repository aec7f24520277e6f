"""What launches did that were executed at issue: time decided it, so a checkpoint keeps it.

Such a launch cannot be executed again without its time. So what it did to device memory is found
by comparing all of it before and after, and written again by a run that goes on.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from lockstep.device.changes import content, differing
from lockstep.device.launch import Launch
from lockstep.execution.launches.services import Services
from lockstep.execution.memory.device_memory import DeviceMemory
from lockstep.workload import Cta, Kernel
from lockstep.workload.at_issue import Exchange, Keep, Source

PAGE = 4096


class Effects:
    """The effects of the launches of a device, by their numbers; ``before``: of a checkpoint.

    ``lost`` says why there can be no checkpoint any more, or is empty.
    """

    def __init__(self, memory: DeviceMemory, services: Services, before: dict | None = None):
        self._memory, self._services = memory, services
        self._effects: dict[str, dict] = dict(before or {})
        self.lost = ""

    def watch(self, launch: Launch, kernel: Kernel) -> Kernel:
        """The kernel of a launch that is executed at issue, whose effect is noted."""

        def again() -> Iterator[Cta]:
            self._repeat(launch)
            yield from ()

        def source(exchange: Exchange, keep: Keep | None = None) -> Watched:
            before, allocations = content(self._memory), self._allocations()
            now = self._services.nanoseconds

            def close() -> None:
                self._note(launch, before, now)
                if does := self._unkept(launch, allocations):
                    name = f"kernel {launch.id} ({launch.kernel.name})"
                    self.lost = f"no checkpoint after {name}: it is executed at issue, and {does}"

            assert kernel.source is not None, "it is executed at issue"
            return Watched(kernel.source(exchange, keep), close)

        return replace(kernel, source=source, again=again)

    def _unkept(self, launch: Launch, before: bytes) -> str:
        """What a launch did that is not kept; ``before``: the allocations when it began."""
        if launch.error is not None:
            return "has failed"
        if launch.tasks is not None:
            return "launches kernels"
        return "allocates memory" if before != self._allocations() else ""

    def freeze(self) -> dict:
        """All effects, for a checkpoint."""
        return self._effects

    def _allocations(self) -> bytes:
        return self._memory.table[: len(self._memory)].tobytes()

    def _note(self, launch: Launch, before: dict[int, np.ndarray], now: int) -> None:
        places, contents = [], []
        for address, old in before.items():
            new = self._memory.view(address, len(old)) if self._memory.find(address) else old
            for start in differing(old, new, PAGE):
                piece = new[start : start + PAGE]
                places.append((address + start, len(piece)))
                contents.append(piece.copy())
        effect = {
            "places": np.array(places, np.int64).reshape(len(places), 2),
            "content": np.concatenate([np.zeros(0, np.uint8), *contents]),
            "nanoseconds": self._services.nanoseconds - now,
            "forced": launch.forced,
            "counters": launch.counters and launch.counters.counted(),
        }
        self._effects[str(launch.id)] = effect

    def _repeat(self, launch: Launch) -> None:
        effect = self._effects[str(launch.id)]
        place = 0
        for address, size in effect["places"].tolist():
            self._memory.view(address, size)[:] = effect["content"][place : place + size]
            place += size
        self._services.launches += 1
        self._services.nanoseconds += effect["nanoseconds"]
        launch.forced = effect["forced"]
        if launch.counters is not None:
            launch.counters.take(*effect["counters"])


class Watched:
    """A :class:`~lockstep.workload.at_issue.Source` with something to do at its end."""

    def __init__(self, source: Source, close: Callable[[], None]):
        self._source, self._close = source, close
        self.function, self.context, self.failed = source.function, source.context, source.failed

    @property
    def warp_instructions(self) -> int:
        """Executed so far."""
        return self._source.warp_instructions

    @property
    def thread_instructions(self) -> int:
        """Executed so far."""
        return self._source.thread_instructions

    def close(self) -> None:
        """The launch has ended."""
        self._source.close()
        self._close()

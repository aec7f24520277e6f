"""Who is told of launches as they come and go."""

from collections.abc import Iterable
from typing import Protocol, TypeGuard

from lockstep.device.launch import Launch
from lockstep.execution.streams.written import WrittenCtas
from lockstep.workload import Cta, Kernel, MemoryCopy


class Watcher(Protocol):
    """Is told of each launch of a device, and keeps of it what it wants.

    ``reads``: whether it reads what each CTA does, too, which makes execution some times slower.
    """

    reads: bool

    def launched(self, launch: Launch) -> None:
        """It will be executed; device memory is as it is when it begins."""
        ...

    def read(self, kernel: Kernel, cta: Cta) -> None:
        """A CTA of the launch whose id the kernel has was executed; in grid order."""
        ...

    def ended(self, launch: Launch) -> None:
        """It was executed, and simulated if it is timed; nobody is told of one that failed."""
        ...


class StreamWatcher(Watcher, Protocol):
    """A watcher that reads streams as they are written, of accesses and barriers alone.

    Of a launch it is told either of all CTAs so or of each by ``read``.
    """

    def read_written(self, kernel: Kernel, ctas: WrittenCtas) -> None:
        """Some CTAs of the launch were executed; in grid order."""
        ...


class CopyWatcher(Watcher, Protocol):
    """A watcher that is told of copies of the host, too."""

    def host_wrote(self, copy: MemoryCopy, allocations: Iterable[tuple[int, int]]) -> None:
        """The host writes device memory; addresses and bytes of what is allocated there now."""
        ...


def reads_streams(watcher: Watcher | None) -> TypeGuard[StreamWatcher]:
    """Whether it is a :class:`StreamWatcher`; ``isinstance`` is slow for what each launch asks."""
    return callable(getattr(watcher, "read_written", None))


def sees_copies(watcher: Watcher | None) -> TypeGuard[CopyWatcher]:
    """Whether it is a :class:`CopyWatcher`."""
    return callable(getattr(watcher, "host_wrote", None))

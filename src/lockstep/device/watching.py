"""Who is told of launches as they come and go."""

from typing import Protocol

from lockstep.device.launch import Launch


class Watcher(Protocol):
    """Is told of each launch of a device, and keeps of it what it wants."""

    def launched(self, launch: Launch) -> None:
        """It will be executed; device memory is as it is when it begins."""
        ...

    def ended(self, launch: Launch) -> None:
        """It was executed, and simulated if it is timed; nobody is told of one that failed."""
        ...

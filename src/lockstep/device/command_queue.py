"""What programs gave the devices of one host to do, in order, until it is simulated."""

from lockstep.host_calls import SetDevice
from lockstep.workload import Command


class CommandQueue:
    """Commands of one device, or of those of a system."""

    def __init__(self) -> None:
        self._commands: list[Command] = []
        self._current = 0

    def put(self, device: int, command: Command) -> None:
        """Add a command of a device."""
        if device != self._current:
            self._commands.append(SetDevice(device))
            self._current = device
        self._commands.append(command)

    def take(self) -> list[Command]:
        """All of them, which are gone then."""
        commands, self._commands = self._commands, []
        return commands

    def __bool__(self) -> bool:
        return bool(self._commands)

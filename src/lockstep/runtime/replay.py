"""Executing a call record without the program that made it."""

from pathlib import Path

import numpy as np

from lockstep.errors import InputError
from lockstep.execution.memory.device_memory import DeviceMemoryError
from lockstep.frontend.cuda.calls import Call
from lockstep.frontend.cuda.record import RecordEntry, read_record
from lockstep.runtime.answers import CallAnswer, Refused
from lockstep.runtime.context import ProgramContext
from lockstep.runtime.simulator import Simulator

_HANDLES = ("module", "kernel", "stream", "event", "start", "end")
_PLACES = {Call.ALLOCATE, Call.FIND_VARIABLE, Call.CREATE_TEXTURE}  # answers that are addresses


def replay(simulator: Simulator, folder: Path) -> bool:
    """Execute the calls of a record; false if it was interrupted, or a call failed.

    Raises :class:`InputError` if the record is damaged or the calls do not lead to the same
    addresses.
    """
    players: dict[int, _Player] = {}
    try:
        for entry in read_record(folder):
            if entry.connection not in players:
                players[entry.connection] = _Player(simulator, folder)
            players[entry.connection].play(entry)
        for player in players.values():
            player.end()
    except KeyboardInterrupt:
        simulator.interrupt()
    return not simulator.problems


class _Player:
    """The calls of one connection: its handles may have other numbers than in the record."""

    def __init__(self, simulator: Simulator, folder: Path):
        self.context, self._simulator, self._folder = ProgramContext(simulator), simulator, folder
        self._handles: dict[int, int] = {}

    def play(self, entry: RecordEntry) -> None:
        """Execute one call."""
        if entry.call == Call.WRITTEN:
            self._fill_in(entry)
        if entry.is_note:
            return
        fields = {
            name: self._handles.get(value, value) if name in _HANDLES else value
            for name, value in entry.fields.items()
        }
        try:
            answer = self.context.perform(entry.call, fields, entry.data)
        except Refused as refused:
            self._simulator.report(refused.problem or f"{entry.call.name}: {refused.status.name}")
            return
        self.context.finish(answer)
        if answer.fields:
            self._compare(entry, answer.fields[0])

    def end(self) -> None:
        """Finish all launches, and free everything."""
        self.context.finish(CallAnswer(then=self._simulator.device.drain))
        self.context.close()

    def _fill_in(self, entry: RecordEntry) -> None:
        f = entry.fields
        content = np.frombuffer(entry.data, np.uint8)
        if not len(content) or len(content) != f["width"] * f["rows"]:
            raise InputError(self._folder, "", "a damaged call record: a copy without its bytes")
        self.context.finish(CallAnswer(then=self._simulator.device.drain))
        try:
            for row, values in enumerate(content.reshape(f["rows"], f["width"])):
                place = f["address"] + row * f["pitch"]
                self._simulator.home(place).memory.view(place, f["width"])[:] = values
        except DeviceMemoryError as error:
            raise InputError(self._folder, "", f"a damaged call record: {error}") from error

    def _compare(self, entry: RecordEntry, result: int) -> None:
        if entry.call not in _PLACES:
            self._handles[entry.result] = result
        elif result != entry.result:
            raise InputError(
                self._folder,
                "",
                f"the record has memory at {entry.result:#x}, this run at {result:#x}: with "
                "--check memory it lies elsewhere, so record and replay with it, or both without",
            )

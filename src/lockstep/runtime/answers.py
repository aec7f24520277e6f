"""How a call of a program ends: an answer, or a refusal; handles that refuse by themselves."""

from collections.abc import Callable
from typing import NamedTuple, NoReturn

from lockstep.runtime.status import Status


class CallAnswer(NamedTuple):
    """What a call returns; ``then`` is done after the program has been told."""

    fields: tuple[int, ...] = ()
    data: bytes = b""
    then: Callable[[], None] | None = None


class Refused(Exception):
    """A call that fails with a status; the device is as before."""

    def __init__(self, status: Status, problem: object = ""):
        self.status, self.problem = status, problem


class Handles(dict):
    """What the program's handles stand for; a number that is none refuses the call."""

    def __missing__(self, handle: int) -> NoReturn:
        raise Refused(Status.INVALID_HANDLE)

    def __delitem__(self, handle: int) -> None:
        self[handle]  # refuses unknown ones
        super().__delitem__(handle)

"""Whose rows of a machine's arrays are whose: with them checkpoints are of the whole GPU."""

from collections.abc import Iterator

import msgspec
import numpy as np

from lockstep._jit import Context
from lockstep.engine.groups import MODULES, PARTITIONS, SMS
from lockstep.gpus.spec import GPU
from lockstep.model.modules.pages import Owners
from lockstep.model.modules.state import Gate

# Of each machine alike: what the engine writes, and what never changes.
_ALIKE = {
    "kernels", "code", "warp_streams", "runs", "addresses", "pool", "unit_table",
    "step", "step_runs", "step_addresses", "step_pool", "paging.away",
}  # fmt: skip
_CONSTANT = {"spec", "shape", "table"}
_OF_ROUTES = {"links", "neighbours"}
_SOURCES = {"begun": 0, "credits": 0, "outbox": 1, "sent": 1}
_DESTINATIONS = {"opened": 0, "inbox": 0, "ports": 0, "bins": 0, "taken": 1, "takes": 1}
"""Arrays of a link by whose rows they have, and in which axis."""
_UP, _DOWN = (SMS, PARTITIONS), (PARTITIONS, SMS)
_ENDS = {
    "requests": _UP, "replies": _DOWN, "forwards": _DOWN, "answers": _UP,
    "between.requests": (SMS, MODULES), "between.replies": (PARTITIONS, MODULES),
    "between.hops": (MODULES, MODULES), "between.to_partitions": (MODULES, PARTITIONS),
    "between.to_sms": (MODULES, SMS),
}  # fmt: skip
"""Groups of a link's sources and destinations, by its name."""


def arrays_of(name: str, context: Context) -> Iterator[tuple[str, np.ndarray]]:
    """All arrays of a context and of those in it, by dotted name.

    What gates have is among the links, and homes of pages are the CTA scheduler's.
    """
    for field, value in zip(context._fields, context):
        if isinstance(value, Gate | Owners):
            continue
        if isinstance(value, Context):
            yield from arrays_of(f"{name}.{field}", value)
        elif isinstance(value, np.ndarray):
            yield f"{name}.{field}", value


class ShardRows(msgspec.Struct, frozen=True):
    """The shards whose rows an array has in an axis, for one shard after the other."""

    group: int  # SMS, PARTITIONS or MODULES
    axis: int
    each: int  # rows of a shard

    def of(self, array: np.ndarray, shards: np.ndarray) -> np.ndarray:
        """A copy of the rows of some shards."""
        return array[self._at(shards)]

    def join(
        self, pieces: list[np.ndarray], owners: list[np.ndarray], like: np.ndarray
    ) -> np.ndarray:
        """An array of the bytes of all rows, in pieces of some shards each, in place of another."""
        whole = np.zeros_like(like)
        for piece, shards in zip(pieces, owners):
            shape = list(like.shape)
            shape[self.axis] = self.each * len(shards)
            whole[self._at(shards)] = piece.view(like.dtype).reshape(shape)
        return whole

    def _at(self, shards: np.ndarray) -> tuple:
        rows = (self.each * shards[:, None] + np.arange(self.each)).reshape(-1)
        return (slice(None),) * self.axis + (rows,)


def rows_of(path: str, array: np.ndarray, gpu: GPU) -> ShardRows | None:
    """Whose rows the array has that a machine has at a dotted path; None: all have the same."""
    side, *_, name = path.split(".")
    if name in _CONSTANT or (side == "dispatcher" and ".control." not in path):
        return None
    if ".rules." in path:  # of a coherence protocol
        return None
    if gpu.modules.count == 1 and path.startswith(("modules.", "links.between.")):
        return None  # nobody has them
    if gpu.coherence.table == "none" and path.startswith(("links.forwards.", "links.answers.")):
        return None
    if side == "links":
        return _rows_of_link(path.removeprefix("links.").rpartition(".")[0], name)
    if side == "modules":
        if name in _OF_ROUTES:
            return None
        return ShardRows(MODULES, 0, len(array) // gpu.modules.count)
    if path.removeprefix("sm.") in _ALIKE:
        return None
    group, shards = (PARTITIONS, gpu.dram.channels) if side == "memory" else (SMS, gpu.sm.count)
    return ShardRows(group, 0, len(array) // shards) if len(array) % shards == 0 else None


def _rows_of_link(link: str, name: str) -> ShardRows:
    ends = _ENDS[link]
    if name in _SOURCES:
        return ShardRows(ends[0], _SOURCES[name], 1)
    return ShardRows(ends[1], _DESTINATIONS[name], 1)

"""Whose rows of a machine's arrays are whose: with them checkpoints are of the whole GPU."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lockstep._jit import Context
from lockstep.engine.groups import SCHEDULED
from lockstep.gpus.spec import GPU

SMS, PARTITIONS = SCHEDULED, 1  # numbers of groups

# Of each machine alike: what the engine writes, and what never changes.
_ALIKE = {
    "kernels", "code", "warp_streams", "runs", "addresses", "pool", "unit_table",
    "step", "step_runs", "step_addresses", "step_pool",
}  # fmt: skip
_CONSTANT = {"spec", "shape", "table"}
_SOURCES = {"begun": 0, "credits": 0, "outbox": 1, "sent": 1}
_DESTINATIONS = {"opened": 0, "inbox": 0, "ports": 0, "bins": 0, "taken": 1, "takes": 1}
"""Arrays of a link by whose rows they have, and in which axis."""


def arrays_of(name: str, context: Context) -> Iterator[tuple[str, np.ndarray]]:
    """All arrays of a context and of those in it, by dotted name."""
    for field, value in zip(context._fields, context):
        if isinstance(value, Context):
            yield from arrays_of(f"{name}.{field}", value)
        elif isinstance(value, np.ndarray):
            yield f"{name}.{field}", value


@dataclass(frozen=True, slots=True)
class ShardRows:
    """The shards whose rows an array has in an axis, in blocks for one shard after the other."""

    kind: int  # the group: SMS or PARTITIONS
    axis: int
    each: tuple[int, ...]  # rows of a shard, in each of the blocks that the array consists of

    def join(self, arrays: list[np.ndarray], parts: list[np.ndarray]) -> np.ndarray:
        """An array that has of each one the rows of its part: see :func:`.part.parts`."""
        shards = parts[-1][self.kind, 1]
        pieces, block = [], 0
        for each in self.each:
            for array, part in zip(arrays, parts):
                rows = slice(*(block + each * part[self.kind]).tolist())
                pieces.append(array[rows] if self.axis == 0 else array[:, rows])
            block += each * shards
        return np.concatenate(pieces, self.axis)


def rows_of(path: str, array: np.ndarray, gpu: GPU, sm) -> ShardRows | None:
    """Whose rows the array has that a machine has at a dotted path; None: all have the same.

    ``sm``: the specification that its SMs have.
    """
    side, *_, name = path.split(".")
    if name in _CONSTANT or (side == "dispatcher" and ".control." not in path):
        return None
    if side == "links":
        return _rows_of_link(path.split(".")[1], name)
    if path.removeprefix("sm.") in _ALIKE:
        return None
    if path == "sm.instructions":  # first the L0s, then the L1s
        l0s, l1 = sm.subcores * sm.l0_sets * sm.l0_ways, sm.l1i_sets * sm.l1i_ways
        return ShardRows(SMS, 0, (int(l0s), int(l1))) if l0s + l1 else None
    kind, shards = (PARTITIONS, gpu.dram.channels) if side == "memory" else (SMS, gpu.sm.count)
    return ShardRows(kind, 0, (len(array) // shards,)) if len(array) % shards == 0 else None


def _rows_of_link(link: str, name: str) -> ShardRows:
    ends = (SMS, PARTITIONS) if link == "requests" else (PARTITIONS, SMS)
    if name in _SOURCES:
        return ShardRows(ends[0], _SOURCES[name], (1,))
    return ShardRows(ends[1], _DESTINATIONS[name], (1,))

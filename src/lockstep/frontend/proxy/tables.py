"""Commands and allocations of a proxy as columns of a file, and back."""

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np

from lockstep.frontend.proxy.records import Command, ProxyAllocation, ProxyCopy, ProxyLaunch
from lockstep.frontend.tracefile.columns import Malformed
from lockstep.isa.instruction import MOST_CLUSTER_CTAS, MOST_THREADS, WARP_SIZES
from lockstep.workload import (
    MOST_BLOCK,
    MOST_GRID,
    MOST_REGISTERS,
    MOST_SHARED_BYTES,
    NEWEST_ARCHITECTURE,
)

MOST_ROWS = 1 << 20  # commands, allocations
SCALARS = {
    "model": MOST_ROWS,
    "registers": MOST_REGISTERS,
    "shared_bytes": MOST_SHARED_BYTES,
    "stream": (1 << 63) - 1,
    "architecture": NEWEST_ARCHITECTURE,
    "shared_base": (1 << 63) - 1,
    "local_base": (1 << 63) - 1,
    "warp_size": max(WARP_SIZES),
    "scalar_registers": MOST_REGISTERS,
}
OPTIONAL = "scalar_registers"  # a column that only proxies of compute units have; else 0
TRIPLES = {"grid": MOST_GRID, "block": MOST_BLOCK, "cluster": (MOST_CLUSTER_CTAS,) * 3}
_ADDRESSES = 1 << 62  # all addresses lie below
Columns = Mapping[str, np.ndarray]


def encode(
    commands: Sequence[Command], allocations: Sequence[ProxyAllocation]
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Columns, and the names of kernels that they count."""
    launches = [c for c in commands if isinstance(c, ProxyLaunch)]
    copies = [c for c in commands if isinstance(c, ProxyCopy)]
    names = list(dict.fromkeys(launch.name for launch in launches))
    place = {name: n for n, name in enumerate(names)}
    lists: dict[str, list[int]] = {
        "base": [a.base for a in allocations],
        "bytes": [a.bytes for a in allocations],
        "launch": [int(isinstance(c, ProxyLaunch)) for c in commands],
        "copy_allocation": [c.allocation for c in copies],
        "copy_offset": [c.offset for c in copies],
        "copy_bytes": [c.bytes for c in copies],
        "name": [place[launch.name] for launch in launches],
        "known": [len(launch.allocations) for launch in launches],
        "allocation": [a for launch in launches for a in launch.allocations],
    }
    for field in SCALARS:
        lists[field] = [getattr(launch, field) for launch in launches]
    for field in TRIPLES:
        for k, axis in enumerate("xyz"):
            lists[f"{field}_{axis}"] = [getattr(launch, field)[k] for launch in launches]
    if not any(lists[OPTIONAL]):
        del lists[OPTIONAL]
    return {name: np.array(values, np.int64) for name, values in lists.items()}, names


def decode(columns: Columns, names: Sequence[str]) -> tuple[list[Command], list[ProxyAllocation]]:
    """The commands and the allocations. Raises :class:`Malformed`."""
    expected = set(encode([], [])[0])
    columns = {OPTIONAL: np.zeros_like(columns.get("model", ())), **columns}
    if set(columns) != expected | {OPTIONAL}:
        raise Malformed(f"expected columns {', '.join(sorted(expected))}")
    _check_lengths(columns)
    base, size = columns["base"], columns["bytes"]
    if ((base < 0) | (size < 0) | (base >= _ADDRESSES - size)).any():
        raise Malformed("expected allocations of addresses from 0 on")
    allocations = [ProxyAllocation(*row) for row in zip(base.tolist(), size.tolist())]
    copies = iter(_copies(columns, size))
    launches = iter(_launches(columns, names, len(allocations)))
    commands: list[Command] = [
        next(launches) if launch else next(copies) for launch in columns["launch"].tolist()
    ]
    return commands, allocations


def _check_lengths(columns: Columns) -> None:
    kinds = columns["launch"]
    launches = int(np.count_nonzero(kinds))
    due = {"base": len(columns["base"]), "bytes": len(columns["base"]), "launch": len(kinds)}
    due |= dict.fromkeys(("copy_allocation", "copy_offset", "copy_bytes"), len(kinds) - launches)
    due["allocation"] = len(columns["allocation"])
    if len(columns["allocation"]) > MOST_ROWS * 8:
        raise Malformed(f"expected at most {MOST_ROWS * 8} allocations known to launches")
    for name, column in columns.items():
        length = due.get(name, launches)
        if len(column) != length or (name != "allocation" and length > MOST_ROWS):
            raise Malformed(f"column {name}: {len(column)} values; expected {length}")
    if ((kinds != 0) & (kinds != 1)).any():
        raise Malformed("column launch: expected 0 or 1")


def _copies(columns: Columns, sizes: np.ndarray) -> list[ProxyCopy]:
    allocation, offset = columns["copy_allocation"], columns["copy_offset"]
    size = columns["copy_bytes"]
    if ((allocation < 0) | (allocation >= len(sizes))).any():
        raise Malformed(f"a copy to an allocation of none of {len(sizes)}")
    room = sizes[allocation]
    if ((offset < 0) | (size < 0) | (offset > room) | (size > room - offset)).any():
        raise Malformed("a copy that does not lie in its allocation")
    rows = zip(allocation.tolist(), offset.tolist(), size.tolist())
    return [ProxyCopy(*row) for row in rows]


def _launches(columns: Columns, names: Sequence[str], allocations: int) -> list[ProxyLaunch]:
    for field, most in SCALARS.items():
        _check(columns[field], 0, most, field)
    for field, limits in TRIPLES.items():
        for axis, most in zip("xyz", limits):
            _check(columns[f"{field}_{axis}"], 1, most, f"{field}_{axis}")
    threads = columns["block_x"] * columns["block_y"] * columns["block_z"]
    _check(threads, 1, MOST_THREADS, "threads of a block")
    if not np.isin(columns["warp_size"], WARP_SIZES).all():
        raise Malformed(f"expected warps of {' or '.join(map(str, WARP_SIZES))} threads")
    _check(columns["name"], 0, len(names) - 1, "name")
    _check(columns["known"], 0, len(columns["allocation"]), "known")
    _check(columns["allocation"], 0, allocations - 1, "allocation")
    known = columns["known"].tolist()
    if sum(known) != len(columns["allocation"]):
        raise Malformed("expected as many allocations as launches know")
    listed = columns["allocation"].tolist()
    rows = {name: columns[name].tolist() for name in columns if name not in ("base", "bytes")}
    launches = []
    for i, (begin, end) in enumerate(pairwise(accumulate(known, initial=0))):
        fields = {field: rows[field][i] for field in SCALARS}
        for field in TRIPLES:
            fields[field] = tuple(rows[f"{field}_{axis}"][i] for axis in "xyz")
        name = names[rows["name"][i]]
        launches.append(ProxyLaunch(name=name, allocations=tuple(listed[begin:end]), **fields))
    return launches


def _check(values: np.ndarray, lowest: int, highest: int, what: str) -> None:
    if ((values < lowest) | (values > highest)).any():
        raise Malformed(f"{what} out of range; expected {lowest} to {highest}")

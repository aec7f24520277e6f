"""Where the time of a run went, if its host takes time: calls, copies, launches, kernels."""

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import asdict

from lockstep.gpus.clock import HostClock
from lockstep.gpus.spec import GPU
from lockstep.host_calls import Direction
from lockstep.names import short_name

if TYPE_CHECKING:  # importing the engine imports the compiler: no view of results needs that
    from lockstep.engine.record import Run

DIRECTIONS = {
    Direction.TO_DEVICE: "to the device",
    Direction.TO_HOST: "to the host",
    Direction.ON_DEVICE: "on the device",
    Direction.FILL: "fill",
}
KERNELS, LAUNCHES, CALLS, NOTHING = "kernels", "launches", "host calls", "nothing"
PARTS = (KERNELS, *(f"copies {name}" for name in list(DIRECTIONS.values())[:3]), "fills",
         LAUNCHES, CALLS, NOTHING)  # fmt: skip
"""Parts of a run's time. Of those that go on at a moment the first one counts."""


class RunStep(NamedTuple):
    """Something that a run did, in picoseconds from its beginning."""

    what: str
    start: int
    end: int
    part: str


def steps(run: "Run", gpu: GPU) -> list[RunStep]:
    """All that a run did, by their starts; the time that a call waits is that of others."""
    if run.host is None:
        return []
    clock = HostClock(gpu.clock_mhz)
    found = [
        RunStep(f"call: {c.kind} {short_name(c.name)}".strip(), c.start, c.busy, CALLS)
        for c in run.host.calls
    ]
    for copy in run.host.copies:
        part = PARTS[1 + copy.direction]
        what = f"copy {DIRECTIONS[copy.direction]}" if part != "fills" else "fill"
        found.append(RunStep(f"{what}, {copy.bytes} bytes", copy.start, copy.end, part))
    for k in run.kernels:
        launched, start, end = (clock.time(cycle) for cycle in (k.launched, k.start, k.end))
        found += [RunStep(f"launch of {k.id}", launched, start, LAUNCHES)]
        found += [RunStep(f"kernel {k.id} ({short_name(k.name)})", start, end, KERNELS)]
    return sorted(found, key=lambda step: (step.start, step.end))


def parts(run: "Run", gpu: GPU) -> dict[str, int]:
    """Picoseconds of a run by what went on, see :data:`PARTS`; their sum is its time."""
    if run.host is None:
        return {}
    changes: list[tuple[int, int, int]] = []
    for step in steps(run, gpu):
        if step.end > step.start:
            part = PARTS.index(step.part)
            changes += [(step.start, 1, part), (step.end, -1, part)]
    active, found, before = [0] * len(PARTS), [0] * len(PARTS), 0
    active[-1] = 1
    for time, change, part in sorted(changes):
        found[next(k for k, n in enumerate(active) if n)] += time - before
        active[part] += change
        before = time
    found[-1] += max(0, run.host.end - before)
    return dict(zip(PARTS, found))


def document(run: "Run", gpu: GPU) -> dict[str, Any]:
    """The same for a JSON file, with each call and copy; empty where the host takes no time."""
    if run.host is None:
        return {}
    copies = [asdict(copy) | {"direction": copy.direction.name.lower()} for copy in run.host.copies]
    calls = [asdict(call) for call in run.host.calls]
    return {
        "host": {
            "picoseconds": run.host.end,
            "parts": {name: time for name, time in parts(run, gpu).items() if time},
            "calls": calls,
            "copies": copies,
            **({"pages": asdict(run.host.pages)} if run.host.pages else {}),
        }
    }

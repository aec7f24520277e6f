"""Launches on caches that were warmed, beside the same launches of a full simulation.

    python benchmarks/warming.py [--gpu QV100] [--groups] [program[:size] ...]

Each program is recorded as a trace and simulated. Then each of its launches but the first is
simulated alone: after the earlier ones were left out (cold), and after they were warmed. Prints a
Markdown table of programs: by how many percent the cycles of these launches are off, in sum and at
worst. "timely": after warming, in the cycle of the full simulation instead of cycle 0, because in
which cycle a launch begins decides where it meets a refresh of the DRAM. With ``--groups``, of each
launch that is off after warming, what it takes with one group of arrays of the full simulation,
too: what is left in which group.
"""

import argparse
import copy
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import lockstep
from lockstep.device import Device
from lockstep.engine import Session
from lockstep.gpus.spec import GPU
from lockstep.kernels import load, names
from lockstep.workload import Command, Kernel, Warming, Workload

LONG = 20_000  # cycles: shorter launches answer to any change with a few percent
GROUPS: dict[str, tuple[str, ...]] = {
    "L2": ("memory.l2.tags.",),
    "DRAM": ("memory.l2.dram.", "memory.next"),
    "instructions": ("sm.l1i.", "sm.l0i.", "sm.streams", "sm.subcores"),
    "constants": ("sm.constants.", "sm.operand_constants."),
    "L1": ("sm.l1.",),
    "dispatcher": ("dispatcher.state", "dispatcher.slots"),
    "SMs": ("sm.sms", "sm.subcores", "sm.units", "sm.register_ports"),
    "slices": ("memory.l2.slices", "memory.l2.entries", "links."),
}
"""Arrays of the state, by the beginnings of their names."""


class Row(NamedTuple):
    """One launch: its cycles in the full simulation, after nothing, and after warming.

    ``timely``: after warming, launched in the very cycle of the full simulation.
    """

    name: str
    number: int
    full: int
    cold: int
    warmed: int
    timely: int
    groups: dict[str, int]  # as ``timely``, with one group as in the full simulation

    def error(self, cycles: int) -> float:
        """How far off some cycles are, in percent."""
        return 100 * (cycles / self.full - 1)


def record(program: str, folder: Path) -> Workload:
    """The trace of a built-in program, of a size that may follow after a colon."""
    name, _, size = program.partition(":")
    path = folder / f"{program}.lst"
    with Device() as device, device.record(path):
        for check in load(name).run(device, **({"size": int(size)} if size else {})):
            check.verify()
    return lockstep.load(path)


def cycles_of_last(gpu: GPU, commands: list[Command], frozen: dict | None = None) -> int:
    """Cycles of the last command, a kernel; ``frozen``: the state after all others."""
    session = Session(gpu)
    try:
        session.run(commands, frozen)
        return session.finished[-1].cycles
    finally:
        session.close()


def state_of(session: Session) -> dict:
    """The whole state between two commands, as it is now."""
    state = session.ranks.simulations[0].freeze()
    return copy.deepcopy(state | {"arrays": {n: a.copy() for n, a in state["arrays"].items()}})


def with_groups(gpu: GPU, commands: list[Command], warm: dict, full: dict) -> dict[str, int]:
    """Cycles of the last command on a warmed state with one group of the full one, by group."""
    found = {}
    for name, prefixes in GROUPS.items():
        theirs = {p: a for p, a in full["arrays"].items() if p.startswith(prefixes)}
        state = warm | {"arrays": warm["arrays"] | theirs, "plain": full["plain"]}
        found[name] = cycles_of_last(gpu, commands, state)
    return found


def study(gpu: GPU, workload: Workload, groups: bool) -> Iterator[Row]:
    """Each launch of a program but the first."""
    full, warm = Session(gpu), Session(gpu)
    warming: list[Command] = []
    copies: list[Command] = []
    for command in workload.commands:
        earlier = len(warming) > len(copies)
        if not isinstance(command, Kernel):
            copies.append(command)
            warming.append(command)
            full.run([command])
            warm.run([command])
            continue
        states = [state_of(each) for each in (full, warm)] if earlier else []
        full.run([command])
        warm.run([Warming(command)])
        if states:
            before = [*warming, command]
            whole = full.finished[-1].cycles
            cold = cycles_of_last(gpu, [*copies, command])
            warmed = cycles_of_last(gpu, before, states[1])
            timely = cycles_of_last(gpu, before, states[1] | {"plain": states[0]["plain"]})
            found = with_groups(gpu, before, states[1], states[0]) if groups else {}
            cycles = whole, cold, warmed, timely
            number = len(warming) - len(copies) + 1
            yield Row(Path(workload.path).stem, number, *cycles, found)
        warming.append(Warming(command))
    full.close()
    warm.close()


# The tables


def program_row(rows: list[Row]) -> str:
    """All launches of a program."""
    full = sum(row.full for row in rows)
    cells = [rows[0].name, str(len(rows)), f"{full:,}"]
    for name in ("cold", "warmed", "timely"):
        cycles = [getattr(row, name) for row in rows]
        errors = [abs(row.error(c)) for row, c in zip(rows, cycles)]
        cells += [f"{100 * (sum(cycles) / full - 1):+.2f}", f"{max(errors):.2f}"]
    return f"| {' | '.join(cells)} |"


def launch_row(row: Row) -> str:
    """One launch, with what is left in which group."""
    cells = [row.name, str(row.number), f"{row.full:,}", f"{row.error(row.cold):+.2f}"]
    cells += [f"{row.error(c):+.2f}" for c in (row.warmed, row.timely, *row.groups.values())]
    return f"| {' | '.join(cells)} |"


def long_launches(rows: list[Row]) -> str:
    """How far off the launches are that take long."""
    errors = [abs(row.error(row.warmed)) for row in rows if row.full >= LONG]
    mean, worst = sum(errors) / max(1, len(errors)), max(errors, default=0.0)
    count = f"{len(errors)} launches of at least {LONG:,} cycles"
    return f"{count}: {mean:.2f} % off in the mean, {worst:.2f} % at worst"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", default=names())
    parser.add_argument("--gpu", default="QV100")
    parser.add_argument("--groups", action="store_true")
    options = parser.parse_args()
    gpu = lockstep.gpu(options.gpu)
    if options.groups:
        print(f"| program | launch | cycles | cold | warmed | timely | {' | '.join(GROUPS)} |")
        print("| --- " * (6 + len(GROUPS)) + "|")
    else:
        print("| program | launches | cycles | cold | worst | warmed | worst | timely | worst |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    every: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.programs:
            rows = []
            for row in study(gpu, record(name, Path(folder)), options.groups):
                rows.append(row)
                if options.groups and row.warmed != row.full:
                    print(launch_row(row), flush=True)
            if rows and not options.groups:
                print(program_row(rows), flush=True)
            every += rows
    print(f"\n{long_launches(every)}")


if __name__ == "__main__":
    main()

"""What the rules of ``lockstep.advise`` find in built-in programs, as a table for docs/advice.md.

``python scripts/advice_table.py [--gpu QV100] [PROGRAM ...]``. Each program runs at its own size
and is simulated again without each limit that was found. Of several kernels a rule tells the one
in which it takes most time.
"""

import argparse
import tempfile
from pathlib import Path

import lockstep
from lockstep import kernels


def found(name: str, gpu: str, folder: Path) -> tuple[int, dict]:
    """The cycles of a program, and by rule the item of most time."""
    trace = folder / f"{name}.lst"
    with lockstep.Device(gpu, timing=True, source=True) as device:
        with device.record(trace):
            kernels.load(name).run(device)
            device.drain()
        result = device.result
    advice = lockstep.advise(result, "found", lockstep.load(trace))
    items: dict = {}
    for item in advice.items:
        items.setdefault(item.rule.name, item)
    return result.cycles, items


def cell(item) -> str:
    """A rule, its share of the time, and the gain."""
    estimated = f"≈ {item.gain:.2f}x"
    gain = estimated if item.simulated is None else f"{item.simulated:.2f}x"
    return f"`{item.rule.name}` {100 * item.found.share:.0f} % ({gain})"


def main() -> None:
    """Print the table, a row a program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpu", default="QV100")
    parser.add_argument("programs", nargs="*", default=kernels.names())
    arguments = parser.parse_args()
    print("| program | cycles | found |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.programs:
            cycles, items = found(name, arguments.gpu, Path(folder))
            told = ", ".join(cell(item) for item in items.values()) or "–"
            print(f"| {name} | {cycles:,} | {told} |", flush=True)


if __name__ == "__main__":
    main()

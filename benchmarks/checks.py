"""What checks cost: the time of launches with each of them against that without.

    python benchmarks/checks.py [--quick] [--repeat N] [--machine-code]

Prints a Markdown table of ratios, in seconds of the processor, the best of ``--repeat`` runs that
take turns; exit code 1 if one is above the limit that the project sets itself.
"""

import argparse
import sys

import msgspec
import zstandard

from execution import CUBINS, SPEEDS, Stopwatch, run_program

CHECKS = ("races", "memory", "init", "all")
LIMIT = 4.0


def seconds(device: Stopwatch, name: str, size: int) -> float:
    """The time of all launches of a program."""
    device.seconds, device.launches = 0.0, []
    run_program(device, name, size)
    if len(device.findings):
        raise SystemExit(f"{name}: {next(iter(device.findings))}")
    return device.seconds


def ratios(name: str, size: int, repeat: int, cubins: dict | None) -> tuple[float, list[float]]:
    """The seconds without checks, and the time with each as a multiple of that."""
    devices = [Stopwatch(cubins), *(Stopwatch(cubins, check=check) for check in CHECKS)]
    best = [float("inf")] * len(devices)
    for turn in range(repeat + 1):
        for k, device in enumerate(devices):
            taken = seconds(device, name, size)
            if turn:  # the first one translates
                best[k] = min(best[k], taken)
    for device in devices:
        device.close()
    return best[0], [b / best[0] for b in best[1:]]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes: to try the script")
    parser.add_argument("--repeat", type=int, default=3, help="the best of so many runs")
    parser.add_argument("--machine-code", action="store_true", help="of sm_80, in place of PTX")
    options = parser.parse_args()
    cubins = None
    if options.machine_code:
        content = zstandard.ZstdDecompressor().decompress(CUBINS.read_bytes())
        cubins = msgspec.msgpack.decode(content)
    print(f"| program | size | without, s | {' | '.join(CHECKS)} (at most {LIMIT:g}) |")
    print(f"| --- | ---: | ---: |{' ---: |' * len(CHECKS)}")
    good = True
    for name, _, size, small in SPEEDS:
        size = small if options.quick else size
        plain, times = ratios(name, size, options.repeat, cubins)
        good &= max(times) <= LIMIT
        figures = " | ".join(f"{t:.2f}" for t in times)
        print(f"| {name} | {size:,} | {plain:.4f} | {figures} |", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

"""Measure how long traces take to read, as compressed text and in lockstep's own format.

::

    python ../shared/tools/gen_traces.py generated
    python benchmarks/tracefile_load.py [--generated generated] [--shared ../shared] [--loads 300]

The text is that of Accel-Sim's tools, packed as tightly as ``xz -9e`` can. Both are read through
the public interface, every CTA of every kernel; the fastest of ``--loads`` counts, or of as many
as fit into ``--seconds``.
"""

import argparse
import lzma
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from rich import box
from rich.console import Console
from rich.table import Table

from lockstep.frontend import accelsim, tracefile

SHARED = Path(__file__).resolve().parents[2] / "shared"
TRACES = (".traceg", ".trace")
HEADINGS = ("trace", ".xz bytes", ".lst bytes", "smaller", ".xz ms", ".lst ms", "faster")


def compressed(source: Path, folder: Path) -> Path:
    """A copy of a trace directory in which every trace is a ``.xz`` file."""
    folder.mkdir()
    for path in source.iterdir():
        if path.suffix in TRACES:
            with (
                open(path, "rb") as plain,
                lzma.open(folder / f"{path.name}.xz", "wb", preset=9 | lzma.PRESET_EXTREME) as file,
            ):
                shutil.copyfileobj(plain, file)
        elif path.suffix == ".xz":
            shutil.copy(path, folder)
    for path in source.glob("kernelslist*"):
        lines = path.read_text().splitlines()
        packed = [f"{n}.xz" if n.endswith(TRACES) else n for n in lines]
        (folder / path.name).write_text("\n".join(packed) + "\n")
    return folder


def fastest(load: Callable, path: Path, arguments: argparse.Namespace) -> float:
    """Seconds that the fastest load took; the first one, which may compile, does not count."""
    times, begin = [], perf_counter()
    while len(times) <= arguments.loads:
        start = perf_counter()
        for kernel in load(path).kernels:
            for _ in kernel.ctas():
                pass
        times.append(perf_counter() - start)
        if len(times) > 1 and perf_counter() - begin > arguments.seconds:
            break
    return min(times[1:])


def row(source: Path, folder: Path, arguments: argparse.Namespace) -> tuple[str, ...]:
    """The line of one trace directory."""
    text, own = compressed(source, folder / source.name), folder / f"{source.name}.lst"
    tracefile.write(accelsim.load(text), own)
    sizes = sum(path.stat().st_size for path in text.glob("*.xz")), own.stat().st_size
    times = fastest(accelsim.load, text, arguments), fastest(tracefile.load, own, arguments)
    cells = [f"{size:,}" for size in sizes], [f"{1000 * seconds:,.3f}" for seconds in times]
    ratios = sizes[0] / sizes[1], times[0] / times[1]
    return source.name, *cells[0], f"{ratios[0]:.1f}x", *cells[1], f"{ratios[1]:.1f}x"


def report(arguments: argparse.Namespace, console: Console) -> None:
    """Measure and print."""
    table = Table(box=box.SIMPLE)
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading == "trace" else "right", no_wrap=True)
    folders = [p for p in (arguments.shared / "data" / "traces").glob("*") if p.is_dir()]
    if arguments.generated:
        folders += [path.parent for path in arguments.generated.glob("*/kernelslist.g")]
    with tempfile.TemporaryDirectory() as folder:
        for source in sorted(folders):
            table.add_row(*row(source, Path(folder), arguments))
    console.print(table)


def main() -> None:
    """Read the command line, measure, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=SHARED, help="recorded traces")
    parser.add_argument("--generated", type=Path, help="synthetic traces")
    parser.add_argument("--loads", type=int, default=300, help="loads of which the fastest counts")
    parser.add_argument("--seconds", type=float, default=10, help="after which no load begins")
    arguments = parser.parse_args()
    console = Console(width=None if Console().is_terminal else 120)
    if not arguments.shared.is_dir():
        console.print(f"skipped: recorded traces, no {arguments.shared}")
    report(arguments, console)


if __name__ == "__main__":
    main()

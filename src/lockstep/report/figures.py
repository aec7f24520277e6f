"""How numbers and names look on a terminal."""

import math
from collections import Counter
from collections.abc import Iterable

from lockstep.names import short_name
from lockstep.names.brief import brief

NONE = "–"  # what an undefined number looks like
NAME_WIDTH = 60  # of a kernel's name, wherever it stands: templates make names of any length


def count(value: float) -> str:
    """A whole number with thousands separators."""
    return NONE if math.isnan(value) else f"{value:,.0f}"


def percent(value: float) -> str:
    """A percentage with one digit after the point."""
    return NONE if math.isnan(value) else f"{value:.1f} %"


def decimal(value: float) -> str:
    """A ratio with two digits after the point."""
    return NONE if math.isnan(value) else f"{value:,.2f}"


def scaled(value: float, unit: str) -> str:
    """A decimal number with an SI prefix: ``scaled(2.5e9, "B/s")`` is "2.50 GB/s"."""
    if math.isnan(value) or value == 0:
        return NONE if math.isnan(value) else f"0 {unit}"
    prefixes = {-3: "n", -2: "µ", -1: "m", 0: "", 1: "k", 2: "M", 3: "G", 4: "T", 5: "P"}
    power = min(5, max(-3, math.floor(math.log10(abs(value)) / 3)))
    return f"{value / 1000**power:,.2f} {prefixes[power]}{unit}"


def size(dimensions: tuple[int, int, int]) -> str:
    """A grid or block without its trailing ones: "80", "16x16"."""
    kept = list(dimensions)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return "x".join(map(str, kept))


def clean(name: str) -> str:
    """A name from a file, without the control characters that could confuse a terminal."""
    return "".join(c if c.isprintable() else "?" for c in name)


def kernel_name(name: str, width: int = NAME_WIDTH) -> str:
    """A kernel's name in C++ without parameters, shortened to ``width`` characters."""
    return brief(clean(short_name(name)), width)


def bar(value: float, width: int) -> str:
    """A bar for a percentage, ``width`` characters for 100 %."""
    filled = 0 if math.isnan(value) else round(min(100.0, max(0.0, value)) * width / 100)
    return "█" * filled + "·" * (width - filled)


def dependences(models: Iterable[str]) -> str:
    """Which models of dependences kernels were simulated with: "control bits"."""
    names = {"control": "control bits", "scoreboard": "scoreboard", "counters": "wait counters"}
    counts = Counter(names[model] for model in models)
    if len(counts) < 2:
        return "".join(counts)
    return ", ".join(f"{name} ({times} kernels)" for name, times in sorted(counts.items()))

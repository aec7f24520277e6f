"""What the studies after Candel et al., FGCS 2018, share: programs, GPU, and OPC beside another."""

from collections.abc import Iterable

from lockstep.report.columns import ALWAYS
from lockstep.studies.description import (
    CYCLES,
    Chart,
    Figure,
    OutcomeView,
    Program,
    Variant,
    bars_of,
    ratio,
)

GPU = "CANDEL"
PROGRAMS = (
    Program("dwt_haar_1d", 1 << 14, 1 << 18),
    Program("fast_walsh_transform", 1 << 14, 1 << 17),
    Program("floyd_warshall", 64, 128),
    Program("matrix_transpose", 256, 1024),
    Program("mersenne_twister", 1 << 12, 1 << 14),
    Program("quasi_random_sequence", 1 << 9, 1 << 10),
    Program("recursive_gaussian", 256, 512),
    Program("reduction", 1 << 16, 1 << 20),
    Program("scan_large_arrays", 1 << 14, 1 << 18),
    Program("simple_convolution", 128, 512),
    Program("binary_search", 1 << 14, 1 << 18),
    Program("bitonic_sort", 1 << 12, 1 << 15),
)
"""The ten that the paper's text names, and two more of the SDK for the two of its figures that it
does not name. The paper gives no sizes: these are ours, in the hosts' own units."""


def opc_figure(variant: str, base: str, rank: int = ALWAYS, name: str = "") -> Figure:
    """The OPC of a variant as a part of another one's: the same operations in other cycles."""
    called = f"{name or variant} OPC"
    return Figure(called, ratio(CYCLES, base, variant), rank=rank, mean="geometric")


def opc_of(outcome: OutcomeView, program: str, name: str) -> float:
    """What the ``opc_figure`` of a name found for a program."""
    return outcome.figures[program][f"{name} OPC"]


def opc_chart(name: str, title: str, base: str, variants: Iterable[Variant]) -> Chart:
    """A bar for each variant's ``opc_figure``; ``base`` in words."""
    bars = bars_of(list(variants), "OPC")
    return Chart(name, title, f"OPC / OPC {base}", bars, line=1)

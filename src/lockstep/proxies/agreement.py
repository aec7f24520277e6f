"""How well a proxy agrees with its original over many configurations of caches.

The sets of configurations are those of Panda et al., "Statistical Pattern Based Modeling of GPU
Memory Access Streams" (DAC 2017), section 5, as far as the paper says which they are: sizes, ways
and lines span the ranges that it gives. Errors are given in points of a rate, |m - m'|, and as the
share of the original's, |m - m'| / m, where that is LEAST or more.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from lockstep.caches import CachePoint, DramPoint, Exploration, Sweep
from lockstep.caches.order import Order
from lockstep.gpus.spec import GPU

if TYPE_CHECKING:
    import pandas

K, M = 1 << 10, 1 << 20
LEAST = 0.01  # of a rate: below it a share says nothing
RATE = "_rate"  # ends the names of metrics that are shares
VARIES = 0.02  # by so much a curve must vary for a correlation
STATISTICS = ("mean", "median", "p90", "worst")


class PointSet(msgspec.Struct, frozen=True):
    """Configurations that are compared by some columns of their table."""

    name: str
    sweep: Sweep
    metrics: tuple[str, ...]
    order: Order = "lrr"


def _caches(sizes: Iterable[int], shapes: Iterable[tuple[int, int]]) -> tuple[CachePoint, ...]:
    return tuple(CachePoint(size, *shape) for size, shape in product(sizes, shapes))


L1_POINTS = _caches(
    (8 * K, 16 * K, 32 * K, 64 * K, 128 * K),
    ((1, 128), (4, 128), (16, 128), (4, 32), (4, 64), (16, 64)),
)
L2_POINTS = _caches(
    (128 * K, 256 * K, 512 * K, M, 2 * M, 4 * M),
    ((1, 128), (4, 128), (8, 128), (16, 128), (8, 64)),
)
FIXED_L1 = CachePoint(16 * K, 4, 128)  # in front of the L2s

DEGREES, DISTANCES, WINDOWS = (1, 2, 4, 8), (1, 2, 4), (8, 16, 32)
L1_AHEAD = tuple(
    CachePoint(size, ways, prefetcher="stride", degree=degree, distance=distance)
    for size, ways in product((16 * K, 32 * K, 64 * K), (4, 8))
    for degree, distance in product(DEGREES, DISTANCES)
)
L2_AHEAD = tuple(
    CachePoint(size, ways, prefetcher="stream", degree=degree, window=window)
    for size, ways in product((128 * K, 256 * K, 512 * K, M), (8, 16))
    for degree, window in product(DEGREES, WINDOWS)
)
FIXED_L2 = CachePoint(512 * K, 8, 128)  # in front of the DRAM
DRAM_POINTS = tuple(
    DramPoint(channels, bus, order)
    for channels, bus, order in (
        *product((2, 4, 8), (8, 16), ("RoBaRaCoCh",)),
        *product((4, 8), (8, 16), ("ChRaBaRoCo",)),
        (16, 16, "RoBaRaCoCh"),
    )
)
DRAM_METRICS = ("dram_row_hit_rate", "dram_read_queue", "dram_latency")

SETS = (
    PointSet("l1", Sweep(L1_POINTS), ("l1_miss_rate",)),
    PointSet("l2", Sweep((FIXED_L1,), L2_POINTS), ("l2_miss_rate",)),
    PointSet("l1 prefetch", Sweep(L1_AHEAD), ("l1_miss_rate",)),
    PointSet("l2 prefetch", Sweep((FIXED_L1,), L2_AHEAD), ("l2_miss_rate",)),
    PointSet("dram", Sweep((FIXED_L1,), (FIXED_L2,), DRAM_POINTS), DRAM_METRICS),
    PointSet("l1 gto", Sweep(L1_POINTS), ("l1_miss_rate",), "gto"),
    PointSet("l2 gto", Sweep((FIXED_L1,), L2_POINTS), ("l2_miss_rate",), "gto"),
)


def explorations(gpu: GPU, sets: Sequence[PointSet] = SETS) -> dict[Order, Exploration]:
    """What looks at all configurations of some sets: one for each order of warps."""
    orders = dict.fromkeys(each.order for each in sets)
    return {
        order: Exploration(gpu, *(s.sweep for s in sets if s.order == order), order=order)
        for order in orders
    }


def compare(
    original: dict[Order, Exploration],
    proxy: dict[Order, Exploration],
    sets: Sequence[PointSet] = SETS,
) -> "pandas.DataFrame":
    """A row a configuration and metric: ``set``, ``metric``, ``configuration`` (its number in the
    set), ``original``, ``proxy``. A rate of nothing is NaN.
    """
    import pandas as pd

    rows = []
    for each in sets:
        place = [s for s in sets if s.order == each.order].index(each)
        tables = [side[each.order].table(place) for side in (original, proxy)]
        for metric in each.metrics:
            values = [table[metric].to_numpy(np.float64) for table in tables]
            rows.append(
                pd.DataFrame(
                    {
                        "set": each.name,
                        "metric": metric,
                        "configuration": np.arange(len(values[0])),
                        "original": values[0],
                        "proxy": values[1],
                    }
                )
            )
    return pd.concat(rows, ignore_index=True)


def summarise(
    rows: "pandas.DataFrame", by: Sequence[str] = ("set", "metric")
) -> "pandas.DataFrame":
    """Errors of the rows of :func:`compare`, of one program or of several (``kernel``).

    Columns: ``points`` (how many), then mean, median, p90 and worst of the error in points, in per
    cent, or of what is no rate its share in per cent; ``relative``, the mean share in per cent;
    ``r``, the mean of Pearson's coefficients over programs whose original varies; ``constant``,
    programs whose original does not; ``empty``,
    configurations that the original or the proxy has no rate of.
    """
    import pandas as pd

    made = []
    for key, mine in rows.groupby(list(by), sort=False):
        kernels = mine.groupby("kernel", sort=False) if "kernel" in mine else [("", mine)]
        curves = [
            pearson(one["original"].to_numpy(), one["proxy"].to_numpy())
            for _, group in kernels
            for _, one in group.groupby(["set", "metric"], sort=False)
        ]
        known = mine.dropna(subset=["original", "proxy"])
        errors = 100 * (known["original"] - known["proxy"]).abs().to_numpy()
        original = known["original"].to_numpy()
        rates = known["metric"].str.endswith(RATE).to_numpy()
        large = np.where(rates, original >= LEAST, original > 0)
        shares = errors[large] / original[large]
        errors = np.where(rates, errors, errors / np.where(original > 0, original, np.nan))
        errors = errors[np.isfinite(errors)]
        varying = [r for r in curves if r is not None]
        made.append(
            dict(zip(by, key if isinstance(key, tuple) else (key,)))
            | {"points": len(errors)}
            | dict(zip(STATISTICS, _statistics(errors)))
            | {
                "relative": float(shares.mean()) if len(shares) else float("nan"),
                "r": float(np.mean(varying)) if varying else float("nan"),
                "constant": len(curves) - len(varying),
                "empty": len(mine) - len(known),
            }
        )
    return pd.DataFrame(made)


def pearson(original: np.ndarray, proxy: np.ndarray) -> float | None:
    """The correlation of two curves; None if the original varies by less than VARIES, or if it is
    no rate by so much of its greatest value.

    A proxy that does not vary at all where the original does has no correlation with it: 0.
    """
    known = np.isfinite(original) & np.isfinite(proxy)
    original, proxy = original[known], proxy[known]
    if len(original) < 2 or np.ptp(original) < VARIES * max(1.0, float(original.max())):
        return None
    if np.ptp(proxy) == 0:
        return 0.0
    return float(np.corrcoef(original, proxy)[0, 1])


def _statistics(errors: np.ndarray) -> tuple[float, ...]:
    if not len(errors):
        return (float("nan"),) * len(STATISTICS)
    return (
        float(errors.mean()),
        float(np.median(errors)),
        float(np.percentile(errors, 90)),
        float(errors.max()),
    )

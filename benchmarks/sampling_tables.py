"""Launch tables with times that nobody here simulated: made up ones, and those in given files."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from lockstep.sampling import LaunchTable, imports
from lockstep.sampling.features import PROFILE
from lockstep.sampling.table import TIME

KERNELS = 16
SHAPES = 3  # grids of a kernel
ITERATION = 40  # launches of a loop over kernels
PROFILED = 20_000  # of more launches than ``WHOLE``, the first ones that have a profile
WHOLE = 1_000_000


def synthetic(launches: int, outliers: bool = False, seed: int = 1) -> LaunchTable:
    """Launches of 16 kernels in a loop, whose times are mixtures that drift.

    Grids and counters tell the shapes of a kernel apart, nothing tells its modes: each launch is in
    the slow mode with a probability that drifts over the run. On top are a slow drift and noise.
    With ``outliers`` one launch in 2,000 takes 2 to 10 times as long, and nothing tells which. Of
    more than ``WHOLE`` launches only the first have a profile.
    """
    random = np.random.default_rng(seed)
    order, grids = (
        random.integers(0, KERNELS, ITERATION),
        random.integers(1, 4096, (KERNELS, SHAPES)),
    )
    place = np.arange(launches)
    kernel = order[place % ITERATION]
    grid = grids[kernel, random.integers(0, SHAPES, launches)]
    at = place / launches
    base, slow, noise = (
        random.uniform(low, high, KERNELS) for low, high in ((3, 300), (1.1, 3), (0.005, 0.3))
    )
    phase, amount, often = (random.uniform(0, high, KERNELS) for high in (6.28, 0.4, 0.8))
    drift = 1 + amount[kernel] * np.sin(3 * at + phase[kernel])
    chance = often[kernel] * (1 + np.sin(6.28 * at + phase[kernel])) / 2
    mode = np.where(random.random(launches) < chance, slow[kernel], 1.0)
    times = 2000 + base[kernel] * grid * drift * mode
    times *= np.exp(noise[kernel] * random.standard_normal(launches))
    if outliers:
        far = random.random(launches) < 1 / 2000
        times *= np.where(far, random.uniform(2, 10, launches), 1.0)
    names = np.array([f"kernel_{k}" for k in range(KERNELS)])
    frame = pd.DataFrame({"name": pd.Categorical.from_codes(kernel, names).astype("str")})
    frame = frame.assign(grid_x=grid, block_x=256, **_profile(kernel, grid, random))
    return LaunchTable(frame.assign(**{TIME: np.ceil(times)}), source=f"synthetic, seed {seed}")


def _profile(
    kernel: np.ndarray, grid: np.ndarray, random: np.random.Generator
) -> dict[str, np.ndarray]:
    """Counters that go with the grid, each kernel's in its own way."""
    known = len(kernel) if len(kernel) <= WHOLE else PROFILED
    found = {}
    for name in PROFILE:
        a_cta = np.floor(10 ** random.uniform(0, 4, KERNELS))
        values = a_cta[kernel] * grid if name.endswith(".sum") else 1 + a_cta[kernel] % 32
        found[name] = np.where(np.arange(len(kernel)) < known, values, np.nan)
    return found


def columns(path: Path) -> LaunchTable:
    """A CSV file with a column of times in ns a kernel: one kernel after the other.

    The file says nothing of the order between kernels.
    """
    frame = pd.read_csv(path, encoding="utf-8-sig")
    parts = [(name, frame[name].dropna().to_numpy(np.float64)) for name in frame]
    names = np.repeat([name for name, _ in parts], [len(times) for _, times in parts])
    times = np.concatenate([times for _, times in parts])
    return LaunchTable(pd.DataFrame({"name": names, TIME: times}), "ns", path.name)


def measured(path: Path, by: str | None) -> Iterator[tuple[str, LaunchTable]]:
    """Tables of a CSV file of measured launches: one, or one of each value of a column."""
    if by is None:
        yield path.name.partition(".")[0], imports.read(path)
        return
    for value in pd.read_csv(path, usecols=[by], dtype=str)[by].unique():
        yield value, imports.read(path, {by: value})

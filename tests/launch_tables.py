"""Launch tables of level 1 for tests of samplers."""

import numpy as np
import pandas as pd

from lockstep.sampling import LaunchTable
from lockstep.sampling.features import INSTRUCTIONS, PROFILE


def profiled_table(instructions, times=None, **columns):
    """Launches whose other counters are those of ``columns``, or 1; names are "k"."""
    launches = len(instructions)
    frame = pd.DataFrame({name: np.ones(launches) for name in PROFILE} | {"name": "k"})
    frame[INSTRUCTIONS] = np.array(instructions, float)
    for name, values in columns.items():
        frame[name] = values
    return LaunchTable(frame if times is None else frame.assign(time=np.array(times, float)))


def mixture(launches, kinds=4, seed=0, noise=0.0):
    """Launches of a few kinds that lie far apart, with times that go with them."""
    random = np.random.default_rng(seed)
    kind = np.concatenate([np.arange(kinds), random.integers(0, kinds, launches - kinds)])
    columns = {name: 10.0 ** random.integers(1, 7, kinds)[kind] for name in PROFILE}
    columns[INSTRUCTIONS] = 10.0 ** (1 + kind)
    frame = pd.DataFrame({name: values.round() for name, values in columns.items()})
    frame *= 1 + noise * random.random(frame.shape)
    times = 100.0 * (1 + kind) ** 2 * (1 + 0.01 * random.random(launches))
    return LaunchTable(frame.assign(name=[f"k{k}" for k in kind], time=times)), kind

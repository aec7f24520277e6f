"""What samplers read of profiles, by hand."""

import numpy as np
import pandas as pd

from lockstep.sampling import LaunchTable
from lockstep.sampling.features import INSTRUCTIONS, LANES, PKA, PROFILE
from lockstep.sampling.readings import pka_features, thread_instructions, work


def test_the_twelve_features():
    profile = {name: np.arange(3) + float(k) for k, name in enumerate(PROFILE)}
    features = pka_features(LaunchTable(pd.DataFrame({"name": "k", "grid_x": [5, 6, 7]} | profile)))
    assert features.shape == (3, 12)
    assert features[:, PKA.index("launch__grid_size")].tolist() == [5, 6, 7]
    assert features[1, 0] == 1


def test_instructions_of_threads_and_work():
    profile = {name: np.zeros(3) for name in PROFILE}
    profile[INSTRUCTIONS] = np.array([0.0, 80.0, 80.0])
    profile[LANES] = np.array([np.nan, 32.0, 2.5])
    profile[PKA[1]] = np.array([0.0, 40.0, 41.0])
    table = LaunchTable(pd.DataFrame({"name": "k"} | profile))
    assert thread_instructions(table).tolist() == [0, 2560, 200]
    assert work(table).tolist() == [1, 20, 20.5]  # 80 / 4 against 40 / 2, then 41 / 2

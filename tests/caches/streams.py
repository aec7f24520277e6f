"""Seeded random streams of accesses, for the tests of this folder."""

import numpy as np

from lockstep._jit import Records, as_records
from lockstep.caches.accesses import ATOMIC, INVALIDATE, PAST_L1, PRIVATE, READ, WRITE
from lockstep.caches.order import ENTRY


def stream(seed: int, count: int = 4000, sms: int = 3, lines: int = 300) -> Records:
    """Entries with all kinds and flags; some lines come much more often than others."""
    random = np.random.default_rng(seed)
    made = np.zeros(count, ENTRY)
    popular = random.integers(0, lines, count)
    made["line"] = np.where(random.random(count) < 0.5, popular, popular % 17) << 1
    made["line"] += random.integers(0, 2, count)
    made["site"], made["warp"] = random.integers(0, 9, count), random.integers(0, 64, count)
    made["sm"], made["sectors"] = random.integers(0, sms, count), random.integers(1, 16, count)
    kinds, shares = [READ, WRITE, ATOMIC, INVALIDATE], [0.7, 0.25, 0.045, 0.005]
    made["kind"] = random.choice(kinds, count, p=shares)
    made["flags"] = random.choice([0, PAST_L1, PRIVATE], count, p=[0.8, 0.1, 0.1])
    return as_records(made)

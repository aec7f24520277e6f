"""Entries by cache: against a stable sort."""

import numpy as np
import pytest

from lockstep._jit import as_records
from lockstep.caches.listed import EntryLists
from lockstep.caches.order import ENTRY

FIELDS = ("line", "sm", "sectors", "kind", "flags")


def entries_of(rng, count, sms):
    made = np.zeros(count, ENTRY)
    for name, most in zip(FIELDS, (1 << 50, sms, 16, 5, 4)):
        made[name] = rng.integers(most, size=count)
    return made


@pytest.mark.parametrize("caches", [1, 4])
def test_entries_of_a_cache_come_together_in_their_order(caches):
    rng = np.random.default_rng(caches)
    lists = EntryLists(caches)
    for count in (0, 1, 50, 7):
        entries = entries_of(rng, 60, 4)
        listed = lists.of(as_records(entries), count)
        expected = entries[:count]
        if caches > 1:
            expected = expected[np.argsort(expected["sm"], kind="stable")]
            assert (
                np.diff(listed.begins).tolist() == np.bincount(expected["sm"], minlength=4).tolist()
            )
        assert listed.begins[-1] == count
        for name in FIELDS:
            assert listed.items[name][:count].tolist() == expected[name].tolist()

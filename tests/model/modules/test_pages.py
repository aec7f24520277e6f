"""Homes by first touch, against a twin that looks at one page after the other."""

import numpy as np
import pytest

from lockstep._jit import as_records
from lockstep.gpus import library
from lockstep.model.cache import slice_hash
from lockstep.model.control import ASK
from lockstep.model.modules import pages

pytestmark = pytest.mark.plain

SMS, MODULES, PAGE = 8, 4, 4096


def owners(**changes):
    gpu = library.replace(
        library.gpu("QV100"),
        **{
            "sm.count": SMS,
            "dram.channels": 4,
            "modules.count": MODULES,
            "modules.pages": "first_touch",
            "modules.page_bytes": PAGE,
        }
        | changes,
    )
    return pages.build(gpu, "ipoly", 256)


def twin(asks):
    """Of (SM, page, cycle) the home of each page."""
    homes = {}
    for page in {page for _, page, _ in asks}:
        _, s = min((since, s) for s, asked, since in asks if asked == page)
        homes[page] = s // (SMS // MODULES)
    return homes


def ask(asked, where):
    asks = as_records(np.zeros(SMS, ASK))
    for s, page, since in asked:
        assert not pages.may_go(where, asks[s], page * PAGE + 12, since)
    return asks


@pytest.mark.parametrize("seed", range(20))
def test_the_earliest_sm_decides_and_of_equals_the_first(seed):
    rng = np.random.default_rng(seed)
    where, known = owners(), {}
    for window in range(6):
        asked = [
            (s, int(page), int(since))
            for s, page, since in zip(
                range(SMS), rng.integers(0, 12, SMS), 100 * window + rng.integers(0, 3, SMS)
            )
            if page not in known and rng.random() < 0.7
        ]
        asks = ask(asked, where)
        pages.settle(where.pages, asks)
        known |= twin(asked)
        assert not asks["page"].any()
        homes = where.pages.homes
        assert {p: int(homes[p]) - 1 for p in range(12) if homes[p]} == known


def test_a_home_stays_and_lines_are_in_its_slices():
    where = owners()
    pages.settle(where.pages, ask([(5, 3, 10)], where))
    pages.settle(where.pages, ask([(0, 4, 10)], where))
    slices = [int(pages.slice_of(where, a, None)) for a in range(3 * PAGE, 4 * PAGE, 256)]
    assert set(slices) == {4, 5}, "two slices of module 2, whose SMs are 4 and 5"
    assert int(where.pages.homes[3]) == 3 and pages.is_known(where, 3 * PAGE)
    asks = as_records(np.zeros(SMS, ASK))
    assert pages.may_go(where, asks[0], 3 * PAGE, 20) and not asks["page"].any()


def test_a_page_that_nobody_touched_is_at_the_module_of_its_number():
    where = owners()
    for page in range(9):
        assert int(pages.slice_of(where, page * PAGE, None)) // 2 == page % MODULES
        assert not pages.is_known(where, page * PAGE)


def test_of_one_page_an_sm_asks_once_and_keeps_the_cycle():
    where = owners()
    asks = ask([(1, 7, 40)], where)
    assert not pages.may_go(where, asks[1], 7 * PAGE, 45)
    assert (int(asks[1].page), int(asks[1].since)) == (8, 40)
    assert not pages.may_go(where, asks[1], 9 * PAGE, 46)
    assert (int(asks[1].page), int(asks[1].since)) == (10, 46)


def test_interleaved_lines_go_over_all_slices_by_the_hash_alone():
    where = owners(**{"modules.pages": "interleaved"})
    alone = slice_hash.build("ipoly", 8, 256)
    addresses = range(0, 1 << 16, 128)
    expected = [int(slice_hash.slice_of(alone, a, None)) for a in addresses]
    assert [int(pages.slice_of(where, a, None)) for a in addresses] == expected
    assert pages.is_known(where, 5 * PAGE) and len(where.pages.homes) == 1

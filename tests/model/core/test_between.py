"""Between windows: what a kernel's start does to the L1s."""

import pytest

from lockstep.model.core import between

pytestmark = pytest.mark.plain


def _fill(c):
    c.l1.tags.lines[...] = 5
    c.l1.caches.filled = 1


@pytest.mark.parametrize(
    "ways, flush, empty", [(4, True, True), (4, False, False), (2, False, True)]
)
def test_a_kernel_may_empty_the_l1(tiny, idle_sms, ways, flush, empty):
    gpu = tiny(sm__count=2, l1__bytes=2048, l1__carveouts=(), l1__sets=4)
    c = idle_sms(gpu)
    _fill(c)
    between.prepare_l1(c, ways, flush)
    assert (c.l1.tags.lines == (0 if empty else 5)).all()
    assert (c.l1.tags.caches.ways == ways).all()

import numpy as np
import pytest

from lockstep.model.core import stream

pytestmark = pytest.mark.plain


def test_a_run_of_no_instructions_is_skipped(tiny, idle_sms):
    c = idle_sms(tiny())
    warp = c.warps[0, 0]
    warp.run, warp.run_end = 0, 3
    c.runs["static"][:3] = [4, 5, 6]
    c.runs["count"][:3] = [0, 2, 0]
    c.runs["mask"][:3] = 1
    assert stream.next_run(c, 0, 0, 7)
    assert (warp.static, warp.left, warp.mask) == (5, 2, 1)
    assert not stream.next_run(c, 0, 0, 7)


@pytest.mark.parametrize(
    ("mask", "lanes"),
    [(-1, 64), (-(1 << 63), 1), ((1 << 63) - 1, 63), (-(1 << 63) | 1, 2), (0, 0), (0xFFFFFFFF, 32)],
)
def test_the_last_of_64_lanes_is_the_sign_of_a_mask(tiny, idle_sms, mask, lanes):
    c = idle_sms(tiny(sm__warp_size=64))
    warp = c.warps[0, 0]
    warp.run, warp.run_end = 0, 1
    c.runs["count"][0], c.runs["mask"][0] = 1, mask
    assert stream.next_run(c, 0, 0, 7)
    assert (warp.mask, warp.lanes) == (mask, lanes)


@pytest.mark.parametrize("size", [32, 64])
def test_a_list_of_addresses_goes_to_the_place_of_its_record_in_the_ring(tiny, idle_sms, size):
    c = idle_sms(tiny(sm__warp_size=size))
    c.kernels[0].ring = 3
    cta, warp = c.ctas[0, 0], c.warps[0, 0]
    cta.addresses, cta.pool, warp.index = 5, 100, 2
    c.step_addresses["first"][0], c.step_addresses["pool"][0] = 7, 0
    for turn, place in ((0, 7), (1, 8), (2, 6)):  # of the records 6, 7 and 8, from the second on
        warp.address = 7 + turn
        c.step_pool[:] = 1000 * turn + np.arange(size)
        stream.take_address(c, cta, warp)
        record = c.addresses[5 + place]
        assert (record.first, record.pool, warp.address) == (7, place * size, place)
        first = 100 + place * size
        assert c.pool[first : first + size].tolist() == c.step_pool.tolist()

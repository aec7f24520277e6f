"""How many work-groups fit on a compute unit, and what bounds them."""

import pytest

from lockstep.errors import WorkloadError
from lockstep.model.core.bind import occupancy


@pytest.mark.parametrize(
    ("needs", "waves", "fit"),
    [
        (dict(vgprs=24), 1, (40, "CTAs")),
        (dict(vgprs=25), 1, (36, "registers")),  # 28 are allocated: 9 wavefronts a SIMD
        (dict(vgprs=100), 1, (8, "registers")),  # of 256 a SIMD: two, and not 10 of 1,024
        (dict(vgprs=100), 4, (2, "registers")),
        (dict(sgprs=48), 1, (40, "CTAs")),
        (dict(sgprs=49), 1, (36, "scalar registers")),  # 56 are allocated
        (dict(sgprs=104), 1, (16, "scalar registers")),
        (dict(lds=32768), 1, (2, "shared memory")),
        (dict(), 4, (10, "warps")),
    ],
)
def test_what_bounds_work_groups(wavefronts, tiny_cu, needs, waves, fit):
    kernel = wavefronts.make(*[["end"]] * waves, **needs).kernels[0]
    assert occupancy(kernel, tiny_cu(sm__ctas=40)) == fit


def test_work_groups_of_candel(wavefronts, tiny_cu):
    kernel = wavefronts.make(*[["end"]] * 4).kernels[0]
    assert occupancy(kernel, tiny_cu("CANDEL"))[0] == 10


def test_a_wavefront_that_fits_no_simd_is_refused(wavefronts, tiny_cu):
    kernel = wavefronts.make(["end"], vgprs=256, sgprs=600).kernels[0]
    with pytest.raises(WorkloadError, match="scalar registers"):
        occupancy(kernel, tiny_cu())


@pytest.mark.plain
@pytest.mark.parametrize(
    ("needs", "fit"),
    [
        (dict(), 10),  # sm.ctas
        (dict(vgprs=128), 8),
        (dict(vgprs=129), 4),
        (dict(sgprs=256), 8),
        (dict(sgprs=257), 4),
        (dict(lds=16384), 4),
        (dict(lds=16385), 3),
    ],
)
def test_as_many_work_groups_run_at_a_time(wavefronts, tiny_cu, watch_cu, needs, fit):
    """Each lasts for a thousand cycles, and begins where one has ended or where there is room."""
    gpu = tiny_cu(sm__ctas=10, cu__branch_latency=256)
    seen = watch_cu(wavefronts.make(["branch"] * 4, groups=11, **needs), gpu)
    first = [cycle for cycle, _, _, static in seen.issues if static == 0]
    assert sum(cycle < 256 for cycle in first) == fit
    assert first[fit] >= 3 * 256

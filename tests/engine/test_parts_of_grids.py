"""The order in which CTAs of parts of a grid are queued."""

import pytest

from lockstep.builder import KernelBuilder
from lockstep.engine.parts_of_grids import check_parts, has_parts, in_parts
from lockstep.engine.readings import ctas_from, linear
from lockstep.gpus import library


@pytest.mark.parametrize(
    ("grid", "first", "expected"),
    [
        (8, 0, [0, 2, 4, 6, 1, 3, 5, 7]),
        (7, 0, [0, 2, 4, 6, 1, 3, 5]),
        (3, 0, [0, 1, 2]),
        (8, 3, [3, 4, 6, 5, 7]),
    ],
)
def test_parts_take_turns(grid, first, expected):
    gpu = library.replace(
        library.gpu("QV100"), **{"modules.count": 4, "modules.ctas": "contiguous"}
    )
    k = KernelBuilder("k", grid=grid, block=32)
    k("EXIT")
    kernel = k.kernel()
    assert has_parts(gpu)
    check_parts(kernel, gpu)
    order = [linear(kernel, cta) for cta in in_parts(kernel, gpu, ctas_from(kernel, first))]
    assert order == expected


def test_only_contiguous_modules_have_parts():
    gpu = library.gpu("QV100")
    assert not has_parts(library.replace(gpu, **{"modules.count": 4}))
    assert not has_parts(library.replace(gpu, **{"modules.ctas": "contiguous"}))

"""Parts of ways between modules, and the window that follows from them."""

import pytest

from lockstep.gpus import library
from lockstep.model.modules.legs import legs


def gpu(**changes):
    table = {"modules.count": 4} | {k.replace("__", "."): v for k, v in changes.items()}
    return library.replace(library.gpu("QV100"), **table)


@pytest.mark.parametrize("topology", ["ring", "mesh", "full"])
@pytest.mark.parametrize("hop", [1, 7, 19, 20, 21, 32, 500])
@pytest.mark.parametrize("crossbar", [3, 17, 60])
def test_a_way_is_as_long_as_crossbar_and_hops_and_no_part_shorter_than_a_window(
    topology, hop, crossbar
):
    parts = legs(
        gpu(modules__topology=topology, modules__hop_latency=hop, interconnect__latency=crossbar)
    )
    assert parts.up + parts.link + parts.down == crossbar + hop
    if topology != "full":
        assert parts.link == hop, "so that ways over two links are right, too"
    assert 1 <= parts.window <= min(parts.up, parts.link, parts.down, crossbar)


def test_links_without_length_take_their_part_of_the_crossbar():
    parts = legs(gpu(modules__topology="full", modules__hop_latency=0))
    assert (parts.up, parts.link, parts.down, parts.window) == (20, 20, 20, 20)


def test_one_module_has_the_crossbars_window():
    assert legs(library.gpu("QV100")).window == library.gpu("QV100").interconnect.latency

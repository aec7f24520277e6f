"""Metrics of links between modules, of counters made by hand."""

import math

import numpy as np
import pytest

from lockstep.gpus import library
from lockstep.metrics import facts, modules, registry
from lockstep.model.counters import MODULE_COUNTERS
from lockstep.report import summary
from metrics.synthetic import make_result, small_gpu


@pytest.fixture
def counted():
    """Facts of 1000 cycles at 1 GHz: two modules, a link of 10 GB/s each way."""
    changes = {"modules.count": 2, "modules.bandwidth": 10.0}
    gpu = library.replace(small_gpu(), **changes)
    result = make_result(kernels=1)
    kernel = result.run.kernels[0]
    kernel.running, kernel.sm["noc_requests"] = 1000, 0
    kernel.sm["noc_requests"][0] = 400
    kernel.modules = np.zeros(2, MODULE_COUNTERS)
    kernel.modules["requests"], kernel.modules["replies"] = [30, 70], [60, 20]
    kernel.modules["bytes"][:, 0] = 2500, 7500
    kernel.modules["messages"][:, 0], kernel.modules["waited"][:, 0] = (90, 110), (100, 500)
    return facts.of_kernel(kernel, gpu)


def values(found):
    return registry.evaluate(registry.columns(found.gpu), found)


def test_links_are_counted_one_by_one_and_together(counted):
    found = values(counted)
    assert {name: found[f"sim__module_{name}"] for name in (
        "requests.sum", "remote.pct", "replies.sum", "link_bytes.sum", "link_messages.sum",
        "link_wait.avg", "link_busy.avg.pct", "link_bytes_0_1.sum", "link_bytes_1_0.sum",
        "link_busy_0_1.pct", "link_busy_1_0.pct",
    )} == {
        "requests.sum": 100, "remote.pct": 25, "replies.sum": 80, "link_bytes.sum": 10_000,
        "link_messages.sum": 200, "link_wait.avg": 3, "link_busy.avg.pct": 50,
        "link_bytes_0_1.sum": 2500, "link_bytes_1_0.sum": 7500,
        "link_busy_0_1.pct": 25, "link_busy_1_0.pct": 75,
    }  # fmt: skip
    assert found["sim__sol_module_link.pct"] == 75


def test_without_a_limit_there_is_no_share(counted):
    gpu = library.replace(counted.gpu, **{"modules.bandwidth": 0.0})
    found = values(facts.Facts(**_fields(counted) | {"gpu": gpu}))
    assert math.isnan(found["sim__sol_module_link.pct"])
    assert found["sim__module_link_bytes.sum"] == 10_000


def _fields(found):
    return {name: getattr(found, name) for name in found.__slots__}


def test_where_nothing_was_counted_nothing_is_said(counted):
    bare = facts.Facts(**_fields(counted) | {"modules": np.zeros(0, MODULE_COUNTERS)})
    found = {name: v for name, v in values(bare).items() if "module" in name}
    assert len(found) == 12 and all(map(math.isnan, found.values()))


def test_gpus_of_one_module_have_none_of_them():
    assert not [c.name for c in registry.columns(small_gpu()) if "module" in c.name]
    made = library.replace(small_gpu(), **{"modules.count": 2})
    assert [word for word, _ in modules.links(made)] == ["0_1", "1_0"]


def test_several_kernels_are_added_module_by_module(counted):
    kernel = counted.kernel
    both = facts.of_kernels([kernel, kernel], counted.gpu)
    assert both.modules["bytes"][:, 0].tolist() == [5000, 15_000]
    assert kernel.modules["bytes"][:, 0].tolist() == [2500, 7500], "and are as they were"


def test_the_summary_shows_bytes_and_the_busiest_link(counted):
    table = list(summary.explanation(values(counted), counted.gpu, 100))[-1]
    cells = [list(column.cells) for column in table.columns]
    row = next(k for k, label in enumerate(map(str, cells[0])) if label == "links of modules")
    assert [str(column[row]) for column in cells][-2:] == ["10.00 kB", "75.0 %"]

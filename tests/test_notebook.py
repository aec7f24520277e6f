"""What notebooks show: of each public object something, and nothing that is not escaped."""

import html.parser
import inspect
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lockstep
from lockstep import notebook

PACKAGES = (
    "lockstep", "lockstep.campaigns", "lockstep.correlation", "lockstep.sampling",
    "lockstep.sampling.inside", "lockstep.sampling.running", "lockstep.proxies", "lockstep.caches",
    "lockstep.kernels", "lockstep.studies", "lockstep.tuning", "lockstep.device",
)  # fmt: skip
PLAIN = {
    # What says all there is to say in one line, or does something and is nothing to look at.
    "KernelBuilder", "Attempt", "CampaignState", "PointJournal", "Launch", "PointRecorder",
    "Profiler", "TraceProfiler", "Correction", "Durations", "Epochs", "Lasting", "Stability",
    "Stable", "Trajectory", "Unit", "Windows", "Follower", "Online", "Warmth", "ProxyProfiler",
    "CachePoint", "DramPoint", "Exploration", "Sweep", "Check", "Row", "DeviceArray", "Event",
    "Recorder", "Stream", "Texture", "Treatment", "Everything", "Inside", "Projected",
    "SampledTrace",
}  # fmt: skip
HOSTILE = "<script>alert('x')</script>&amp;"


class Text(html.parser.HTMLParser):
    """The texts of a document, and its tags."""

    def __init__(self, document):
        super().__init__()
        self.texts, self.tags = [], []
        self.feed(document)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def shown(value):
    """The texts of what a notebook shows of an object, in one; it must be well formed."""
    found = Text(value._repr_html_())
    assert set(found.tags) <= {"p", "b", "br", "table", "thead", "tbody", "tr", "th", "td"}
    assert len(found.texts) > 2
    return " | ".join(found.texts)


def public_classes():
    for package in PACKAGES:
        module = import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) and not issubclass(value, Exception):
                yield name, value


def test_every_public_object_shows_itself_or_is_known_not_to():
    protocols = {n for n, c in public_classes() if getattr(c, "_is_protocol", False)}
    without = {n for n, c in public_classes() if not hasattr(c, "_repr_html_")} - protocols
    assert without - PLAIN == set()
    with_html = {n for n, c in public_classes() if hasattr(c, "_repr_html_")}
    assert {"Result", "SweepPoint", "Correlation", "Plan", "Proxy", "BuiltinKernel"} <= with_html
    assert hasattr(lockstep.report.compare.RunComparison, "_repr_html_")


def test_everything_is_escaped():
    found = Text(notebook.facts(HOSTILE, {HOSTILE: HOSTILE, "b": (HOSTILE, 1)}))
    assert found.texts.count(HOSTILE) == 3 and f"{HOSTILE}, 1" in found.texts
    assert "script" not in found.tags
    assert "script" not in Text(notebook.rows(HOSTILE, [{HOSTILE: HOSTILE}])).tags


def test_numbers_are_those_that_people_read():
    found = Text(notebook.facts("t", {"a": 1234567, "b": float("nan"), "c": 0.5, "d": True,
                                      "e": None}))  # fmt: skip
    assert found.texts[2:] == ["a", "1,234,567", "b", "–", "c", "0.5", "d", "yes"]


@pytest.mark.parametrize(("count", "said"), [(12, False), (13, True)])
def test_of_a_long_table_the_rest_is_counted(count, said):
    text = notebook.rows("t", [{"n": n} for n in range(count)])
    assert ("The first 12 of 13 rows:" in text) == said
    assert text.count("<tr>") == 1 + 12
    assert "<table" not in notebook.rows("t", [])


def hostile_workload():
    k = lockstep.KernelBuilder("k", grid=3, block=64)
    k("EXIT")
    workload = k.workload()
    workload.name = workload.kernels[0].name = HOSTILE
    return workload


def test_workloads_and_their_kernels():
    workload = hostile_workload()
    text = shown(workload)
    assert f"{HOSTILE}: 1 kernels" in text and "3, 1, 1" in text and "64, 1, 1" in text
    assert HOSTILE in shown(workload.kernels[0])


def test_gpus_and_points():
    assert "QV100" in shown(lockstep.gpu("QV100")) and "sm_70" in shown(lockstep.gpu("QV100"))
    point = lockstep.SweepPoint("saxpy", "QV100", {"sm.count": 4}, seed=3)
    assert "saxpy on QV100" in shown(point) and "sm.count | 4" in shown(point)


def test_campaigns_count_their_points():
    from lockstep.campaigns import Campaign

    with Campaign([lockstep.SweepPoint("saxpy", "QV100")], lambda point: None) as campaign:
        assert "points | 1 | known | 0 | failed | 0" in shown(campaign)


def test_programs_that_come_along():
    from lockstep import kernels

    saxpy = kernels.load("saxpy")
    assert f"saxpy: {saxpy.summary}" in shown(saxpy) and f"{saxpy.size:,}" in shown(saxpy)


def test_correlations_and_their_statistics(tmp_path, synthetic):
    from lockstep.correlation import Statistics, correlate

    hardware = tmp_path / "hardware.csv"
    hardware.write_text("kernel,cycles\nkernel_1,10000\nkernel_2,10000\n")
    found = correlate(hardware, synthetic.make_result())
    assert "2 of 2 measured launches compared" in shown(found)
    assert "gpc__cycles_elapsed.max" in shown(found)
    assert "worst, % | 10" in shown(Statistics.of([110.0, 100.0], [100.0, 100.0]))


def table_and_plan():
    from lockstep.sampling import LaunchTable, Plan

    rows = [{"name": name, "code": name} for name in (HOSTILE, HOSTILE, "b")]
    table = LaunchTable(pd.DataFrame(rows))
    stratum = np.array([0, 0, 1])
    return table, Plan.of(table, "random", stratum, np.array([1, 2]), drawn=True)


def test_launch_tables_plans_and_estimates():
    from lockstep.sampling import estimate

    table, plan = table_and_plan()
    assert f"{HOSTILE} | 2 | b | 1" in shown(table)
    assert "stratum | launches | simulated | 0 | 2 | 1 | 1 | 1 | 1" in shown(plan)
    assert "total | 25" in shown(estimate(plan, np.array([10.0, 5.0])))


def test_proxies():
    from lockstep.frontend.proxy.proxy import Proxy

    text = shown(Proxy(HOSTILE, "affine", [], [], []))
    assert f"Proxy of {HOSTILE}" in text and "level | plain | launches | 0" in text


def test_rows_of_microbenchmarks():
    from lockstep.tuning.rows import Row, Rows

    rows = Rows(Path("a.csv"), (Row(HOSTILE, "n=3", 1.5, "cycles"),))
    assert f"{HOSTILE} | n=3 | 1.5 | cycles" in shown(rows)


def test_devices_modules_kernels_and_launches():
    from lockstep import kernels

    with lockstep.Device("QV100") as device:
        module = device.load_ptx(kernels.load("saxpy").ptx)
        kernels.load("saxpy").run(device, 100, module=module)
        assert "Device QV100" in shown(device) and "launches | 1" in shown(device)
        assert "saxpy" in shown(module)
        assert "parameters | u32" in shown(module["saxpy"])
        x = device.zeros(64)
        launch = module["saxpy"][2, 32](64, 1.0, x, x)
        assert "Launch 2 of saxpy" in shown(launch) and "2, 1, 1" in shown(launch)


def test_a_system_shows_its_gpus():
    with lockstep.System("DGX_1V", gpus=2) as system:
        text = shown(system)
    assert "System DGX_1V" in text and "QV100, QV100" in text

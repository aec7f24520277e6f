"""Tables and the timeline of a system, from copies that were written by hand."""

import io

import pytest
from msgspec.structs import replace

from gpu_systems import small_system
from lockstep.engine.host.copy_link import LinkRun
from lockstep.engine.host.record import CallRun, HostRun, PeerRun
from lockstep.metrics.system import SystemResult
from lockstep.report.system import EACH_GPU, FIRST_GPU, events, tables

MICROSECOND = 1_000_000


@pytest.fixture
def result(synthetic):
    """Two GPUs with the same kernels; a link that was busy for a tenth of the time."""
    gpus = tuple(synthetic.make_result() for _ in range(2))
    for k, gpu in enumerate(gpus):
        gpu.run = replace(gpu.run, running=gpu.run.running // (k + 1))
    calls = [CallRun("copy", "", 0, MICROSECOND, 4 * MICROSECOND)]
    busy = LinkRun("GPU 0 > GPU 1", 25.0, 4096, 1, 10 * MICROSECOND, [(0, 10 * MICROSECOND)])
    peers = [PeerRun(0, 1, 3, 4096, False, 0, 10 * MICROSECOND, 1)]
    host = HostRun(
        calls, end=100 * MICROSECOND, peers=peers, links=[busy, LinkRun("GPU 1 > GPU 0", 25.0)]
    )
    return SystemResult(small_system(2), gpus, host)


def text(result, width=100):
    from rich.console import Console

    console = Console(width=width, record=True, file=io.StringIO())
    for each in tables(result, width):
        console.print(each)
    return console.export_text()


def test_links_that_carried_nothing_are_left_out(result):
    shown = text(result)
    (line,) = [line for line in shown.splitlines() if line.startswith("GPU 0 > GPU 1")]
    assert line.split()[5:] == ["25.00", "GB/s", "4,096", "10.00", "µs", "10.0", "%"]
    assert "GPU 1 > GPU 0" not in shown and "SMALL: 100.00 µs" in shown


def test_accesses_that_took_no_time_are_told(result):
    assert "crossed no link" not in text(result)
    result.peer_accesses = 1234
    assert "1,234 accesses of kernels went to the memory of other GPUs" in text(result)


def test_each_gpu_has_a_line(result):
    lines = [line.split() for line in text(result).splitlines()]
    assert [line[0] for line in lines if line and line[0] in "01"] == ["0", "1"]


def test_the_links_as_values(result):
    busy, idle = result.links
    assert (busy["utilisation"], idle["utilisation"]) == (0.1, 0.0)
    assert list(result.link_table["bytes"]) == [4096, 0]
    assert result.seconds == pytest.approx(100e-6) and result.stopped == ""


def test_the_hash_is_of_what_happened(result):
    before = result.hash
    other = replace(result.host, links=[replace(result.host.links[0], spans=[(0, 1)])])
    assert SystemResult(result.spec, result.gpus, result.host).hash == before
    assert SystemResult(result.spec, result.gpus, other).hash != before


def test_every_track_of_the_timeline_has_its_place(result):
    found = list(events(result))
    busy = [e for e in found if e.get("cat") == "link"]
    assert [(e["ts"], e["dur"]) for e in busy] == [(0, 10.0)]
    (copy,) = [e for e in found if e.get("cat") == "copy"]
    assert copy["args"] == {"GB/s": pytest.approx(0.4096), "staged": False}
    kernels = [e["pid"] for e in found if e.get("cat") == "kernel"]
    assert {(pid - FIRST_GPU) // EACH_GPU for pid in kernels} == {0, 1}
    ids = [(e["pid"], e["tid"]) for e in found if e["name"] == "thread_name"]
    assert len(ids) == len(set(ids))

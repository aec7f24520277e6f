"""Copy engines: pages of copies over the link, alone and together, against a naive twin."""

import random

import pytest

from lockstep.engine.host.costs import Costs
from lockstep.engine.host.engines import CopyEngines
from lockstep.engine.host.operation import Operation
from lockstep.gpus import library
from lockstep.host_calls import Direction, MemoryCopy
from lockstep.model.clock import NEVER

PAGE = 4096


def costs(**changes):
    changes = {f"host.{name}": value for name, value in changes.items()}
    return Costs(library.replace(library.gpu("SST_VOLTA"), **changes))


def copied(engines, requests):
    """Run copies, (ready, bytes) each in order of time; their runs, and pages as they left."""
    runs, pages, ends = {}, [], []
    waiting = [
        Operation(MemoryCopy(k << 30, size, engines.direction), ready)
        for k, (ready, size) in enumerate(requests)
    ]
    while True:
        ready = waiting[0].ready if waiting else NEVER
        end = min(ends, key=lambda run: run.end, default=None)
        time = min(ready, engines.next, end.end if end else NEVER)
        if time == NEVER:
            return [runs[k << 30] for k in range(len(requests))], pages
        if end and end.end == time:
            ends.remove(end)
            engines.release(end)
        elif ready == time:
            engines.request(waiting.pop(0))
        else:
            page, transfer = engines.step()
            pages.append(page)
            if transfer:
                runs[transfer.run.address] = transfer.run
                ends.append(transfer.run)


@pytest.mark.parametrize("direction", [Direction.TO_DEVICE, Direction.TO_HOST])
@pytest.mark.parametrize("pages", [1, 2, 7])
def test_an_idle_copy_that_blocks_takes_a_round_trip_a_page(direction, pages):
    c = costs()
    (run,), sent = copied(CopyEngines(c, direction, 1), [(1000, pages * PAGE)])
    page = 2 * c.latency + c.on_link(PAGE) + c.in_l2(PAGE)
    assert run.end - run.start == pages * page == run.link + run.device
    assert (run.start, run.pages, [p.bytes for p in sent]) == (1000, pages, [PAGE] * pages)


def test_a_last_page_that_is_not_full_takes_what_it_has():
    c = costs()
    (run,), sent = copied(CopyEngines(c, Direction.TO_DEVICE, 1), [(0, PAGE + 100)])
    assert [(p.address, p.bytes) for p in sent] == [(0, PAGE), (PAGE, 100)]
    both = sum(2 * c.latency + c.on_link(n) + c.in_l2(n) for n in (PAGE, 100))
    assert run.end == both


def test_outstanding_pages_hide_the_latency():
    c = costs(outstanding=64)
    (run,), _ = copied(CopyEngines(c, Direction.TO_DEVICE, 1), [(0, 50 * PAGE)])
    assert run.end == 50 * c.on_link(PAGE) + 2 * c.latency + c.in_l2(PAGE)


@pytest.mark.parametrize("direction", [Direction.TO_DEVICE, Direction.TO_HOST])
def test_two_engines_share_the_link(direction):
    """Two copies that each fill the link take twice as long together, page by page in turn."""
    c = costs(outstanding=64)
    both, _ = copied(CopyEngines(c, direction, 2), [(0, 100 * PAGE), (0, 100 * PAGE)])
    rest = 2 * c.latency + c.in_l2(PAGE)
    assert sorted(run.end for run in both) == [
        199 * c.on_link(PAGE) + rest,
        200 * c.on_link(PAGE) + rest,
    ]
    alone, _ = copied(CopyEngines(c, direction, 1), [(0, 100 * PAGE), (0, 100 * PAGE)])
    assert alone[0].end == 100 * c.on_link(PAGE) + rest
    assert alone[1].start == alone[0].end
    assert {run.engine for run in both} == {0, 1} and {run.engine for run in alone} == {0}


def twin(c, requests, count, to_device):
    """Every picosecond that matters, by lists of all pages; each copy has an engine."""
    copies = [{"ready": r, "left": n, "acks": [], "turn": 0, "want": 0} for r, n in requests]
    link = turn = 0
    while any(copy["left"] for copy in copies):
        wants = []
        for k, copy in enumerate(copies):
            if copy["left"]:
                sent = len(copy["acks"])
                gate = copy["acks"][sent - c.outstanding] if sent >= c.outstanding else 0
                copy["want"] = max(copy["ready"], gate, copy["want"])
                copy["size"] = size = min(PAGE, copy["left"])
                before = 0 if to_device else c.latency + c.in_l2(size)
                wants.append((max(link, copy["want"] + before), copy["turn"], k))
        leaves, _, k = min(wants)
        copy, turn = copies[k], turn + 1
        size, copy["turn"] = copy["size"], turn
        link = leaves + c.on_link(size)
        after = 2 * c.latency + c.in_l2(size) if to_device else c.latency
        copy["acks"].append(link + after)
        copy["left"] -= size
    return [max(copy["acks"]) for copy in copies]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("direction", [Direction.TO_DEVICE, Direction.TO_HOST])
def test_random_copies_end_as_in_the_twin(seed, direction):
    draw = random.Random(seed)
    c = costs(
        outstanding=draw.choice([1, 2, 5, 40]),
        link_latency=draw.choice([0, 23840, 900_000]),
        link_bandwidth=draw.choice([0.5, 16.0, 63.0]),
    )
    n = draw.choice([1, 2, 5])
    ready = sorted(draw.randrange(3_000_000) for _ in range(n))
    requests = [(r, draw.randrange(1, 30 * PAGE)) for r in ready]
    runs, _ = copied(CopyEngines(c, direction, n), requests)
    assert [run.end for run in runs] == twin(c, requests, n, direction is Direction.TO_DEVICE)

"""Stores on their way: who learns that they are there, and what waits for them."""

import pytest

from lockstep.builder import KernelBuilder
from lockstep.errors import SpecError
from lockstep.model.control import STORED
from lockstep.model.core import stores
from lockstep.workload import MemoryCopy

pytestmark = pytest.mark.plain
A = 1 << 20


@pytest.fixture
def c(tiny, idle_sms):
    """An SM with a CTA of kernel 1 whose warp in slot 3 has one store on its way."""
    c = idle_sms(tiny())
    warp = c.warps[0, 3]
    warp.active, warp.age, warp.kernel, warp.cta = 1, 9, 1, 2
    assert stores.warp_of(stores.send(c, 0, 3)) == 3
    return c


def test_a_store_counts_for_its_warp_and_its_cta(c):
    assert c.warps[0, 3].outstanding == c.ctas[0, 2].outstanding == c.ctas[0, 2].written == 1


def test_the_warp_learns_of_it_while_it_is_there(c):
    assert stores.arrives(c, 0, stores.writer_of(c.warps[0, 3], 3), 50)
    assert c.ctas[0, 2].written == 0 and not c.left.any() and c.control.n_ended[0] == 0


@pytest.mark.parametrize("change", [{"active": 0}, {"age": 10}])
def test_a_store_of_a_warp_that_has_ended_counts_for_its_kernel(c, change):
    """Also where another warp has its slot."""
    writer = stores.writer_of(c.warps[0, 3], 3)
    for name, value in change.items():
        c.warps[0, 3][name] = value
    c.left[0, 1] = 2
    assert not stores.arrives(c, 0, writer, 50)
    assert c.left[0, 1] == 1 and c.control.n_ended[0] == 0, "one more is on its way"
    c.spec[0].drain = 7
    assert not stores.arrives(c, 0, writer, 60)
    last = c.control.ended[0, 0]
    assert (last.kernel, last.cta, last.end) == (1, STORED, 53)
    assert c.control.n_ended[0] == 1 and c.warps[0, 3].outstanding == 1


def stored(watch, gpu):
    """(start, end) of two CTAs that store at their end, in turn, and the end of the kernel."""
    k = KernelBuilder("stores", grid=2, block=32)
    k("STG.E [R2], R4", address=A)
    seen = watch(k.workload(MemoryCopy(A, 128)), gpu, cta_events=True)
    events = sorted(seen.run.cta_events[["start", "end"]].tolist())
    return events, seen.run.kernels[0].end


@pytest.mark.parametrize("drain", [0, 5, 8_000])
def test_a_cta_ends_when_its_stores_are_sent_and_the_kernel_when_they_are_there(watch, tiny, drain):
    changes = {"sm__count": 1, "sm__ctas": 1}
    (first, second), over = stored(watch, tiny(**changes, sm__exit_waits=True))
    assert second[0] >= first[1] and over == second[1]
    acknowledged = second[1] - second[0]
    gpu = tiny(**changes, sm__exit_waits=False, launch__drain=drain)
    (first, second), over = stored(watch, gpu)
    sent = first[1] - first[0]
    assert sent == second[1] - second[0] < gpu.interconnect.latency < acknowledged
    assert second[0] <= first[1] + gpu.interconnect.latency, "at the end of the window"
    assert over == max(second[1], second[0] + acknowledged - drain)


def test_an_atomic_keeps_its_cta_until_its_value_is_there(watch, tiny):
    k = KernelBuilder("atomic", grid=1, block=32)
    k("ATOMG.E.ADD.STRONG.GPU PT, R5, [R2], R4", address=A)
    gpu = tiny(sm__exit_waits=False)
    seen = watch(k.workload(MemoryCopy(A, 128)), gpu, cta_events=True)
    assert seen.run.cta_events["end"][0] > 2 * gpu.interconnect.latency


@pytest.mark.parametrize(
    ("parameter", "bits"),
    [("sm__warps", stores.WARP_BITS), ("launch__concurrent_kernels", stores.KERNEL_BITS)],
)
def test_a_writer_has_room_for_every_warp_and_kernel(tiny, parameter, bits):
    with pytest.raises(SpecError):
        tiny(**{parameter: (1 << bits) + 1})

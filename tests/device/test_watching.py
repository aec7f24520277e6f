"""Who watches a device is told of its launches, each when it begins and ends."""

import pytest

import lockstep
from lockstep.device.treatment import Treatment
from lockstep.errors import LockstepError


class Listener:
    def __init__(self, reads=False):
        self.told, self.reads = [], reads

    def launched(self, launch):
        self.told.append(("launched", launch.id))

    def read(self, kernel, cta):
        self.told.append(("read", kernel.id, cta.index[0]))

    def ended(self, launch):
        self.told.append(("ended", launch.id, launch.run is not None))


def _axpy(device, ptx, times=2):
    module, x, y = device.load_ptx(ptx), device.zeros(256), device.zeros(256)
    for _ in range(times):
        module["axpy"][2, 128](256, 2.0, x, y)


def test_each_launch_ends_before_the_next_one_begins(ptx):
    with lockstep.Device(profile=True) as device:
        _axpy(device, ptx, 1)
        listener = Listener()
        device.watch(listener)
        _axpy(device, ptx)
        assert [launch.id for launch in device.launches] == [1]
    ends = [("ended", 2, False), ("ended", 3, False)]
    assert listener.told == [("launched", 2), ends[0], ("launched", 3), ends[1]]


def test_a_timed_launch_ends_when_it_was_simulated(timed, ptx):
    listener = Listener()
    timed.watch(listener)
    _axpy(timed, ptx)
    assert listener.told == [("launched", 1), ("launched", 2)]
    timed.synchronize()
    assert listener.told[2:] == [("ended", 1, True), ("ended", 2, True)]
    assert timed.launches == []


def test_what_is_warmed_or_only_executed_ends_too(ptx):
    kinds = [Treatment.WARM, Treatment.SIMULATE, Treatment.EXECUTE]
    with lockstep.Device(timing=True, choose=lambda launch: kinds[launch.id - 1]) as device:
        listener = Listener()
        device.watch(listener)
        _axpy(device, ptx, 3)
        ends = [told for told in listener.told if told[0] == "ended"]
    assert ends == [("ended", 1, False), ("ended", 2, True), ("ended", 3, False)]


def test_a_launch_that_fails_does_not_end(ptx):
    with lockstep.Device() as device:
        listener = Listener()
        device.watch(listener)
        with pytest.raises(lockstep.LaunchError):
            device.load_ptx(ptx)["axpy"][1, 32](32, 1.0, 64, 64)
        assert listener.told == [("launched", 1)]
        with pytest.raises(LockstepError, match="watched already"):
            device.watch(Listener())


def test_who_reads_gets_each_cta_of_a_launch(ptx, timed):
    with lockstep.Device() as device:
        listener = Listener(reads=True)
        device.watch(listener)
        _axpy(device, ptx, 1)
    reads = [("read", 1, 0), ("read", 1, 1)]
    assert listener.told == [("launched", 1), *reads, ("ended", 1, False)]
    with pytest.raises(LockstepError, match="without timing=True"):
        timed.watch(Listener(reads=True))

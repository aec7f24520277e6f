"""What the host copies to a device that is watched belongs to the proxy: its L2 is as warm."""

import lockstep
from lockstep import kernels
from lockstep.device import Device
from lockstep.frontend.proxy import ProxyCopy, ProxyLaunch
from lockstep.proxies import ProxyProfiler


def profiled(run, **options):
    profiler = ProxyProfiler(**options)
    with Device("QV100") as device:
        device.watch(profiler)
        run(device)
    return profiler.proxy("p")


def test_copies_lie_between_the_launches_that_they_lay_between():
    def run(device):
        kernels.load("saxpy").run(device, 1000)
        device.zeros((0,))  # a copy of nothing is none
        kernels.load("saxpy").run(device, 500)

    proxy = profiled(run)
    kinds = [type(command) for command in proxy.commands]
    assert kinds == [ProxyCopy, ProxyCopy, ProxyLaunch] * 2
    assert [c.bytes for c in proxy.commands if isinstance(c, ProxyCopy)] == [4000] * 2 + [2000] * 2
    hidden = profiled(run, level="hidden")
    assert [type(command) for command in hidden.commands] == kinds


def test_cycles_of_a_proxy_are_those_of_its_program():
    """Without its copies a launch finds nothing in the L2: then it takes twice as long."""

    def run(device):
        kernels.load("mm2").run(device, 32)

    gpu = lockstep.gpu("QV100")
    with Device(gpu, timing=True) as device:
        run(device)
        original = device.result.run.cycles
    proxy = profiled(run)
    assert 0.9 < lockstep.simulate(proxy.workload(), gpu).run.cycles / original < 1.1
    proxy.commands = [each for each in proxy.commands if isinstance(each, ProxyLaunch)]
    assert lockstep.simulate(proxy.workload(), gpu).run.cycles > 1.3 * original

"""How long single things take: a page on the link, its way through the L2, a fill."""

from fractions import Fraction

from lockstep.gpus.clock import HostClock
from lockstep.gpus.library import totals
from lockstep.gpus.spec import GPU


class Costs:
    """The times of one GPU and its host, in picoseconds."""

    def __init__(self, gpu: GPU):
        host = gpu.host
        self.clock = HostClock(gpu.clock_mhz)
        self.latency = host.link_latency
        self.calls = {
            kind: 1000 * getattr(host.call_ns, kind) for kind in host.call_ns.__struct_fields__
        }
        self.coherent = host.memory == "coherent"
        self.page_bytes = gpu.l2.line_bytes if self.coherent else host.page_bytes
        self.outstanding = host.outstanding
        self._bandwidth = Fraction(host.link_bandwidth).limit_denominator(10**6)
        self._dram = Fraction(totals(gpu).dram_gb_per_s).limit_denominator(10**6)
        self._l2, self._crossbar = gpu.l2, gpu.interconnect.latency
        self._slices = gpu.dram.channels * gpu.l2.slices_per_channel
        self._l2_clock = HostClock(gpu.l2.clock_mhz)

    def on_link(self, size: int) -> int:
        """Bytes keep the link busy so long, in their direction."""
        return -(-1000 * size // self._bandwidth)

    def in_l2(self, size: int) -> int:
        """From the copy engine through the crossbar to all slices that a page has, and back.

        Each slice reads or writes what it has of the page at its own rate.
        """
        chunks = -(-size // self._l2.interleave_bytes)
        share = min(size, -(-chunks // self._slices) * self._l2.interleave_bytes)
        cycles = -(-share // self._l2.bytes_per_cycle)
        return self.clock.time(2 * self._crossbar) + self._l2_clock.time(cycles)

    def in_dram(self, size: int) -> int:
        """Bytes that are read or written within the device, at the rate of its DRAM."""
        return -(-1000 * size // self._dram)

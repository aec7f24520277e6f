"""What joins the GPUs of a system: links of their own, a PCIe switch, or NVSwitches.

A link is that of one direction. Copies cross it packet by packet; of the packets that wait for a
link those of each source go in turn.
"""

from typing import Annotated

from msgspec import Meta

from lockstep.gpus import choices
from lockstep.gpus.ranges import Spec, within


class FabricSpec(Spec, frozen=True, kw_only=True):
    """The fabric of a system. One of ``pcie`` has the bandwidth of its GPUs' links to the host."""

    topology: Annotated[
        choices.FabricTopology,
        Meta(
            description="nvlink: links between pairs of GPUs; pcie: one switch at the other end of "
            "the GPUs' links to the host, which copies between GPUs share with those of the host; "
            "nvswitch: switches that join all GPUs, of which a packet passes one"
        ),
    ]
    bandwidth: Annotated[
        float, within(0, 100_000, "GB/s", "of one link in each direction; 0 with pcie")
    ] = 0.0
    latency: Annotated[int, within(0, 1_000_000_000, "ps", "of a link, one way; 0 with pcie")] = 0
    links: Annotated[
        tuple[str, ...],
        Meta(description="nvlink: the pairs of GPUs that have one: 0-1, or 0-3 x2 for two"),
    ] = ()
    links_per_gpu: Annotated[
        int, within(0, 1024, "links", "nvswitch: from each GPU to the switches, used as one")
    ] = 0
    ports: Annotated[int, within(0, 65536, "ports", "nvswitch: of all switches together")] = 0
    switch_latency: Annotated[
        int, within(0, 1_000_000_000, "ps", "in a switch, from a packet's first bytes in to out")
    ] = 0
    credits: Annotated[
        int,
        within(1, 65536, "packets", "that a switch holds of each GPU; more of them wait there"),
    ] = 64
    packet_bytes: Annotated[
        int, within(128, 1 << 30, "bytes", "of a copy that cross a link together")
    ] = 16384
    payload_bytes: Annotated[
        int, within(1, 1 << 20, "bytes", "of data between two headers on the link")
    ] = 256
    header_bytes: Annotated[
        int, within(0, 1 << 16, "bytes", "of a header, which take the link's time, too")
    ] = 0

    def on_link(self, size: int) -> int:
        """Bytes on a link for so many of a packet: those of the headers come along."""
        return size + max(1, -(-size // self.payload_bytes)) * self.header_bytes

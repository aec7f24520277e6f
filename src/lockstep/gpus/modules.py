"""A GPU of several chips in one package: modules, each with its share of SMs, L2 and DRAM."""

from typing import Annotated

from msgspec import Meta

from lockstep.gpus import choices
from lockstep.gpus.ranges import Spec, within

MOST_LINKS = 7  # of a module to others


class Modules(Spec, frozen=True, kw_only=True):
    """Chip modules and the links between them; one module is a monolithic GPU."""

    count: Annotated[
        int,
        within(1, 64, "modules", "chips, with equal shares of SMs and memory channels; 1 = one"),
    ] = 1
    topology: Annotated[
        choices.Topology,
        Meta(
            description="which modules have links: ring, each and the next one; mesh, neighbours "
            "in rows and columns; full, any two"
        ),
    ] = "ring"
    bandwidth: Annotated[
        float, within(0, 1e6, "GB/s", "of a link, in each direction; 0 = without limit")
    ] = 768.0
    hop_latency: Annotated[
        int, within(0, 4096, "core cycles", "of a link, on top of the way through the crossbar")
    ] = 32
    header_bytes: Annotated[
        int, within(1, 512, "bytes", "of a message on a link, beside the sectors that it carries")
    ] = 16
    ctas: Annotated[
        choices.CtaPlacement,
        Meta(
            description="which module gets a CTA: round_robin, by SMs in turn, as if they were on "
            "one chip; contiguous, that of its part of the grid, parts being equal"
        ),
    ] = "round_robin"
    pages: Annotated[
        choices.PagePlacement,
        Meta(
            description="whose L2 and DRAM have a line: interleaved, over all slices by "
            "l2.slice_hash; first_touch, those of the module of the SM that first sent a request "
            "for its page"
        ),
    ] = "interleaved"
    page_bytes: Annotated[
        int, within(4096, 1 << 26, "bytes", "of a page, which has its home where it is touched")
    ] = 65536

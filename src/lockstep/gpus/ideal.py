"""Limits of the hardware that can be lifted, to learn what they cost: no GPU has any of these."""

from typing import Annotated

from msgspec import Meta

from lockstep.gpus.ranges import Spec


class Ideal(Spec, frozen=True, kw_only=True):
    """What would be without a limit that no other parameter lifts. See docs/advice.md."""

    coalescing: Annotated[
        bool,
        Meta(
            description="loads and stores ask for no more sectors than their bytes fill: whole "
            "lines of those that they touch"
        ),
    ] = False
    banks: Annotated[
        bool, Meta(description="no two lanes of an access to shared memory meet in a bank")
    ] = False
    local: Annotated[bool, Meta(description="accesses to local memory ask the L1 for nothing")] = (
        False
    )

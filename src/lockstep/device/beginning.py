"""With what a device begins: what simulates it, and the checkpoint from which that goes on."""

from functools import partial
from pathlib import Path

from lockstep.device.continuation import continuation_of, identity_of
from lockstep.device.options import DeviceOptions
from lockstep.device.owner import OwningDevice
from lockstep.device.timing import JointTiming, Timing


def timing_alone(device: OwningDevice, options: DeviceOptions) -> Timing:
    """What simulates the launches of a device that is the only one of its host.

    Raises :class:`InputError` if the checkpoint to go on from is damaged, or of something else.
    """
    looked_at = (options.interval, options.timeline, options.source)
    made = {"at_issue": options.at_issue, "profile": options.profile, "interval": looked_at}
    identity = partial(identity_of, device, options.policies, made)
    kept, goes_on = options.checkpoint, options.resume
    alike = {"checkpoint": repr((bool(kept), bool(goes_on)))}
    joint = JointTiming.alone(
        device.gpu, options.ranks, lambda: identity() | alike, **options.simulation
    )
    timing = Timing(device.gpu, device.memory, joint, 0)
    if kept or goes_on:
        continuation = timing.continuation = continuation_of(device, identity())
        if kept:
            continuation.write_into(Path(kept), options.checkpoint_seconds, options.notice)
        if goes_on:
            continuation.go_on_from(Path(goes_on))
    return timing

"""The start of work-groups on a compute unit: what only its own units keep begins, too."""

from lockstep._jit import inline
from lockstep.model.core import launch
from lockstep.model.cu import issue, waits


@inline
def begin_window(c, s):
    """Take what the CTA scheduler says of this window."""
    launch.begin_window(c, s)
    control = c.control
    for k in range(control.n_launches[s]):
        slot = launch.launch(c, s, control.launches[s, k])
        for w in range(c.spec[0].warps):
            warp = c.warps[s, w]
            if warp.active and warp.cta == slot:
                waits.begin(c.waits[s, w])
                issue.begin(warp)

"""The start of CTAs on an SM: what only its own units keep of a warp begins, too."""

from lockstep._jit import inline
from lockstep.model.core import launch
from lockstep.model.sm import dependence, issue


@inline
def begin_window(c, s):
    """Take what the CTA scheduler says of this window."""
    launch.begin_window(c, s)
    control = c.control
    for k in range(control.n_launches[s]):
        slot = launch.launch(c, s, control.launches[s, k])
        registers = c.kernels[c.ctas[s, slot].kernel].register_rows
        for w in range(c.spec[0].warps):
            warp = c.warps[s, w]
            if warp.active and warp.cta == slot:
                dependence.begin(c, s, w, registers)
                issue.begin(warp)

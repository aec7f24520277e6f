"""What compiled code notes of a finding: one record for each pair of instructions and kind."""

import numpy as np

from lockstep._jit import inline

FINDING = np.dtype(
    [
        ("kind", "i8"),  # access.Fault or kinds.Hazard
        ("site", "i8"),  # memory site of the access
        ("other", "i8"),  # of the access before, or -1
        ("cta", "i8"),  # index in the grid
        ("warp", "i8"),  # in the CTA
        ("lane", "i8"),
        ("other_cta", "i8"),
        ("other_warp", "i8"),
        ("other_lane", "i8"),
        ("address", "i8"),  # as the program knows it; in shared memory, the offset
        ("bytes", "i8"),
        ("count", "i8"),  # how often it happened; the rest is of the first time
    ]
)
MOST_FINDINGS = 256  # of one launch
FOUND, DROPPED = 0, 1  # in ``Checked.found``


@inline
def note(x, kind, site, other, w, lane):
    """The row of a finding, or -1 if it was there before, or there is no room."""
    findings, found = x.checked.findings, x.checked.found
    n = found[FOUND]
    for k in range(n):
        row = findings[k]
        if row.kind == kind and row.site == site and row.other == other:
            row.count += 1
            return -1
    if n == len(findings):
        found[DROPPED] += 1
        return -1
    found[FOUND] = n + 1
    warps = x.launch[0].warps
    row = findings[n]
    row.kind, row.site, row.other, row.count = kind, site, other, 1
    row.cta, row.warp, row.lane = x.ctas[w // warps].linear, w % warps, lane
    return n


@inline
def note_fault(x):
    """Keep the fault that was recorded, which does not end the launch."""
    fault = x.fault[0]
    n = note(x, fault.kind, fault.site, -1, fault.warp, fault.lane)
    if n >= 0:
        row = x.checked.findings[n]
        row.address, row.bytes = fault.address, fault.bytes

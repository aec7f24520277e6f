"""What instructions wait for and do under scopes, and the state behind it: see ``releases.py``."""

import numpy as np

from lockstep._jit import Context, Records
from lockstep.isa.instruction import CachePolicy, OpClass, Space
from lockstep.model.records import full, records, words

PLACE = 8  # of these bits in ``ISSUE.cache``, above those of CachePolicy that caches look at
POLICIES = (1 << PLACE) - 1
AFTER_LOADS = 1  # waits until loads and atomics of its warp have ended
AFTER_STORES = 2  # ... and until what its SM has stored is in the L2
HOLDS = 4  # its warp goes on when its data is here
FORGETS = 8  # the L1 is invalidated then
WAITS = AFTER_LOADS | AFTER_STORES
NOTHING = -1

SYNCHRONISING = (OpClass.LOCAL_FENCE, OpClass.BARRIER, OpClass.ARRIVE, OpClass.CLUSTER_ARRIVE)
ACCESSES = (OpClass.LOAD, OpClass.STORE, OpClass.ATOMIC, OpClass.REDUCTION)

GROUPS = np.dtype(
    words(
        "turn",  # the group that stores join, 0 or 1
        "closed",  # groups that were closed, and have arrived
        "wanted",  # ... that somebody waits for
    )
    + [("flying", "i8", (2,))]  # stores of each that are on their way
)


class Releases(Context):
    """Stores of all SMs by groups, and what releases wait for."""

    sms: Records  # GROUPS, sms
    targets: np.ndarray  # sms x warps: ``closed`` that lets a warp's release go, or NOTHING


def build(sms: int, warps: int) -> Releases:
    """Nothing is on its way."""
    return Releases(records(sms, GROUPS), full((sms, warps), NOTHING))


def orders_of(code: np.ndarray, control: bool) -> np.ndarray:
    """What ``ISSUE.cache`` of INSTRUCTION records is under scopes.

    ``control``: dependences are the compiler's; else CCTL.IVALL waits for loads itself.
    """
    op, asked = code["op"], code["cache"]
    of_cta = asked & CachePolicy.OF_CTA != 0
    acquires, releases = asked & CachePolicy.ACQUIRE != 0, asked & CachePolicy.RELEASE != 0
    accesses = np.isin(op, ACCESSES) & np.isin(code["space"], (Space.GLOBAL, Space.GENERIC))
    fences, wide = op == OpClass.FENCE, ~of_cta
    invalidates = (op == OpClass.CACHE_CONTROL) & (asked & CachePolicy.INVALIDATE != 0)
    orders = np.zeros(len(code), np.int64)
    waits = fences | np.isin(op, SYNCHRONISING) | accesses & releases
    orders[waits | invalidates & (not control)] |= AFTER_LOADS
    orders[fences | accesses & releases & wide] |= AFTER_STORES
    orders[accesses & acquires] |= HOLDS
    orders[(accesses & wide | fences) & acquires] |= FORGETS
    policies = asked & POLICIES & ~CachePolicy.OF_CTA & ~CachePolicy.ACQUIRE
    policies[of_cta] &= ~CachePolicy.BYPASS_L1
    return policies | orders << PLACE

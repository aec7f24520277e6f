"""Words of loads are read over the L1's banks, a pass a cycle, once all their lines are there.

Those of hits in turn, those of misses when their last sectors have come. That counts where tags are
looked up in banks of their own (``l1.tag_banks``): elsewhere loads have no passes.
"""

from lockstep._jit import inline


@inline
def read(c, s, access, now):
    """All words of a load are there from ``now`` on: the first cycle behind its passes."""
    sm = c.sms[s]
    sm.words_free = max(sm.words_free, now) + access.passes
    return sm.words_free

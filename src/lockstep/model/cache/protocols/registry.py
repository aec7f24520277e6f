"""The protocols by name, for each level, and the hooks that a level calls."""

from lockstep.gpus.choices import L1Protocol, L2Protocol, numbered

WRITE_THROUGH, WRITE_EVICT = 0, 1
L1 = numbered(L1Protocol, globals())
L1_HOOKS = ("readable", "write", "atomic", "fill", "probe")

WRITE_VALIDATE, WRITE_FETCH = 0, 1
L2 = numbered(L2Protocol, globals())
L2_HOOKS = (*L1_HOOKS, "written", "wanted", "owed", "paid")

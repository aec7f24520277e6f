"""The studies, one a file, each as ``STUDY``.

``OLD`` is the V100 as the simulator before Accel-Sim's has it, ``NEW`` as Accel-Sim does.
"""

OLD = "GPGPUSIM3_V100"
NEW = "QV100"

FIXED_L1 = ("l1.carveouts=", "l1.bytes=32768")
"""An L1 of 32 KB of its own, not unified with shared memory."""

OLD_L1 = (
    *FIXED_L1,
    "sm.memory.coalescer=line",
    "l1.banks=1",
    "l1.tag_banks=0",
    "l1.allocate=miss",
    "l1.protocol=write_evict",
    "l1.mshr_entries=32",
    "l1.mshr_merges=8",
    "l1.miss_queue=8",
)
"""The L1 of ``OLD`` and its coalescer. Sets stay: of 4 the paper speaks, and ``NEW`` has them."""

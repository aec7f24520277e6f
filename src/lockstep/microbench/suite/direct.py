"""Parameters of a GPU that rows of the suite say without a fit, by benchmark.

These benchmarks are the direct-parameter subset: they are few, and a modelled GPU runs them in
seconds (``lockstep microbench --direct``).
"""

DIRECT: dict[str, tuple[str, ...]] = {
    "device.sms": ("sm.count", "clock_mhz", "dram.clock_mhz", "sm.registers", "shared.bytes"),
    "sched.subcore_pair": ("sm.subcores",),
    "lat.ffma": ("sm.units.fp32.operations",),
    "lat.iadd3": ("sm.units.int.operations",),
    "lat.dfma": ("sm.units.fp64.operations",),
    "lat.mufu_ex2": ("sm.units.sfu.operations",),
    "thr.ffma": ("sm.units.fp32.intervals",),
    "thr.iadd3": ("sm.units.int.intervals",),
    "thr.dfma": ("sm.units.fp64.intervals",),
    "thr.mufu_ex2": ("sm.units.sfu.intervals",),
    "lat.lds32": ("shared.latency", "shared.pass_latency"),
    "lat.chase_ca": ("l1.latency", "l2.latency", "l1.bytes"),
    "lat.chase_cg": ("l2.latency",),
    "lat.constant_chase": ("constant.latency",),
    "mlp.dram": ("dram.latency",),
    "lat.chase_dram": ("dram.latency",),
    "probe.l1_sector": ("l1.line_bytes", "l1.sector_bytes"),
    "probe.l2_sector": ("l2.sector_bytes",),
    "thr.atom_global": ("l2.atomic_interval",),
    "sync.bar_sync": ("sm.barrier_latency", "sm.barrier_interval"),
    "sync.bar_named": ("sm.named_barrier_latency",),
    "branch.taken": ("sm.front_end.redirect",),
    "branch.half_lanes": ("sm.front_end.divergence",),
    "branch.body_alone": ("sm.front_end.divergence",),
    "lat.store_membar_gl": ("sm.fence_round_trip",),
    "sync.cluster_barrier_relaxed": ("sm.cluster_barrier_latency",),
    "lat.dsm_load": ("shared.remote_latency",),
    "bw.dsm_load": ("shared.remote_interval",),
}

"""Reservation fails: many in the L1 of GPGPU-Sim 3, none in the streaming L1 (Accel-Sim, 2020)."""

import lockstep


def refusals(gpu):
    """Refusals and waiting cycles of a random gather, which misses everywhere."""
    k = lockstep.KernelBuilder("gather", grid=80, block=256, registers=32)
    with k.loop(4):
        k("LDG.E R12, [R10]", address=k.random(0x7F0000000000, span=64 << 20, seed=1))
        k("FADD R14, R14, R12")
    k("EXIT")
    metrics = lockstep.simulate(k.workload(), gpu).metrics[0]
    causes = [f"sim__l1_fail_{cause}.sum" for cause in ("line", "mshr", "merge")]
    return sum(metrics[name] for name in causes), metrics["sim__l1_reservation_fails.sum"]


def test_a_streaming_l1_reserves_nothing_and_so_never_fails():
    assert refusals("QV100") == (0, 0)


def test_an_l1_that_allocates_on_a_miss_fails_often():
    often, cycles = refusals("GPGPUSIM3_V100")
    assert often > 10_000
    assert cycles > 100_000

"""Shared memory of the CTA and of other CTAs of its cluster."""

from lockstep.isa.instruction import WARP_SIZE
from lockstep.tuning.inference import Fit, Inference, whole
from lockstep.tuning.measured import Measured

LOADS = "lat.lds32"
BANK = 4  # bytes
REMOTE_PASS = 128  # bytes of a pass over the banks of another SM


def _pass(m: Measured) -> int:
    one, all_ways = m.get(LOADS, conflict=1), m.get(LOADS, conflict=WARP_SIZE)
    return max(whole(m.difference(all_ways, one) / (WARP_SIZE - 1)), 1)


def _remote_interval(m: Measured) -> int:
    rate = m.highest("bw.dsm_load", "bytes/clk/SM", lambda row: True)
    return max(whole(REMOTE_PASS / rate), 1)


def _remote(m: Measured) -> float:
    return m.middle("lat.dsm_load", lambda row: row.keys.get("distance", 0) > 0)


def _compare_and_swap(m: Measured) -> int:
    return max(whole(m.get("thr.atoms_cas", warps=WARP_SIZE, stride_bytes=BANK)), 1)


INFERENCES = (
    Inference("shared.latency", lambda m: whole(m.get(LOADS, conflict=1))),
    Inference("shared.pass_latency", _pass, "cycles for each further way"),
    Inference("shared.passes.ATOMS_CAS", _compare_and_swap, "passes of a warp without conflicts"),
    Inference("shared.remote_interval", _remote_interval, "cycles for 128 bytes"),
    Inference("shared.remote_latency", _remote, "median, in simulation too", Fit()),
)

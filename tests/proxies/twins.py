"""What lanes of warps access, in a form in which a workload and that of its proxy are compared."""

import numpy as np

from lockstep.workload import Cta, Kernel, Workload


def accesses(kernel: Kernel, cta: Cta) -> list[list[tuple]]:
    """For each warp: opcode, mask and lane addresses of what accesses memory, in order."""
    code, texts = kernel.code.instructions, kernel.code.texts
    warps = []
    for warp in cta.warps:
        found, at = [], int(warp["first_address"])
        for run in cta.runs[warp["first_run"] : warp["first_run"] + warp["runs"]]:
            if run["mask"] == 0:
                continue
            for i in range(run["static"], run["static"] + run["count"]):
                if code[i]["width"] == 0:
                    continue
                found.append((texts[code[i]["text"]], int(run["mask"]), *lanes(cta, at, run)))
                at += 1
        assert at == warp["first_address"] + warp["addresses"]
        warps.append(found)
    return warps


def lanes(cta: Cta, at: int, run) -> list[int]:
    """The addresses of the active lanes of an access."""
    record, count = cta.addresses[at], int(run["mask"]).bit_count()
    if record["pool"] >= 0:
        return cta.pool[record["pool"] : record["pool"] + count].tolist()
    return (int(record["first"]) + int(record["stride"]) * np.arange(count)).tolist()


def assert_same_accesses(original: Workload, proxy: Workload) -> None:
    """All CTAs of all launches access the same."""
    assert len(original.kernels) == len(proxy.kernels)
    for kernel, other in zip(original.kernels, proxy.kernels):
        assert (kernel.name, kernel.grid, kernel.block) == (other.name, other.grid, other.block)
        for cta, made in zip(kernel.ctas(), other.ctas(), strict=True):
            assert cta.index == made.index
            assert accesses(kernel, cta) == accesses(other, made)

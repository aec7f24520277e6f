"""What lies between sites: as many instructions, of the same classes, that wait for the same."""

import numpy as np
import pytest

from lockstep import api
from lockstep.builder import KernelBuilder, program
from lockstep.isa.instruction import OpClass, Space
from lockstep.proxies import profile

BASE = 1 << 40


def kernel():
    """Loads of which one is used late, a chain, and a store of what a load brought."""
    k = KernelBuilder("gaps", 8, 64)
    k("S2R R1, SR_TID.X")
    k("LDG.E R4, [R2]", address=k.coalesced(BASE))
    k("LDG.E R5, [R2]", address=k.coalesced(BASE + (1 << 20)))
    with k.loop(3):
        k("MUFU.EX2 R6, R7")
        k("FFMA R8, R6, R4, R5")
        k("LDG.E R9, [R2]", address=k.coalesced(BASE + (1 << 21), 4, 4096))
    k("STG.E [R2], R9", address=k.coalesced(BASE + (1 << 22)))
    return k


@pytest.fixture(scope="module")
def pair():
    original = program(kernel())
    return original, profile(original).workload()


def counts(workload):
    """How often warps execute each class of instructions."""
    total = np.zeros(len(OpClass), np.int64)
    for one in workload.kernels:
        for cta in one.ctas():
            for run in cta.runs:
                span = slice(run["static"], run["static"] + run["count"])
                np.add.at(total, one.code.instructions["op"][span], 1)
    return {OpClass(n).name: int(c) for n, c in enumerate(total) if c}


def test_as_many_instructions_of_each_class(pair):
    original, proxy = pair
    assert counts(original) == counts(proxy)
    for cta, other in zip(original.kernels[0].ctas(), proxy.kernels[0].ctas()):
        for field in ("warp_instructions", "thread_instructions", "addresses"):
            assert np.array_equal(cta.warps[field], other.warps[field])


def test_a_slot_waits_for_the_loads_and_the_slot_that_it_reads(pair):
    code = pair[1].kernels[0].code
    rows = {code.texts[r["text"]]: r for r in code.instructions}
    written = {r["destination"][0] for r in code.instructions if r["op"] == OpClass.LOAD}
    read = set(rows["FFMA"]["source"][: rows["FFMA"]["sources"]].tolist())
    assert len(read & written) == 2
    assert read - written == {rows["MUFU.EX2"]["destination"][0]}
    stored = set(rows["STG.E"]["source"][: rows["STG.E"]["sources"]].tolist())
    assert len(stored & written) == 1


def test_time_is_about_the_same(pair):
    original, proxy = (api.simulate(each, "QV100").cycles for each in pair)
    assert abs(proxy / original - 1) < 0.1


def of_machine_code():
    """Instructions of machine code that name pairs of registers; a constant with no address."""
    k = KernelBuilder("pairs", 8, 64, architecture=80)
    k("ULDC.64 UR4, c[0x0][0x118]")
    k("IMAD.WIDE R2, R1, 0x4, R6")
    k("LDG.E.64 R4, [R2]", address=k.coalesced(BASE, 8))
    k("DFMA R8, R4, R4, R6")
    k("STG.E.64 [R2], R8", address=k.coalesced(BASE + (1 << 20), 8))
    return program(k)


def test_a_proxy_of_machine_code_has_a_form_in_an_accelsim_trace(tmp_path):
    proxy = profile(of_machine_code()).workload()
    api.save(proxy, tmp_path / "trace")
    written = api.load(tmp_path / "trace")
    assert counts(written) == counts(proxy)
    assert {"LDC", "DFMA"} <= set(written.kernels[0].code.texts)
    cycles = [api.simulate(each, api.gpu("A100")).run.cycles for each in (proxy, written)]
    assert cycles[0] == cycles[1]


def test_a_load_without_an_address_reads_constants():
    code = profile(of_machine_code()).workload().kernels[0].code
    spaces = {code.texts[r["text"]]: r["space"] for r in code.instructions}
    assert spaces["ULDC.64"] == Space.CONSTANT
    assert spaces["DFMA"] == Space.NONE

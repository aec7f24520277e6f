"""Machine code of every PTX instruction and type against the naive twin.

What is compared was assembled by NVIDIA's ptxas from the kernels of ``ptx_twin``. A sample of them
has every opcode with every modifier; ``pytest --all-machine-code`` executes the others, too.
"""

from functools import cache

import numpy as np
import pytest

import lockstep
from lockstep.execution.sass import instructions  # noqa: F401 (fills the table)
from lockstep.execution.sass.opcodes import TABLE, name_of, problem
from lockstep.isa.sass.encoding.decoder import disassemble
from ptx_twin.cases import differences, operand_bytes, results_of, twin_results
from ptx_twin.generator import SCRATCH
from ptx_twin.machine_code import ARCHITECTURES, OTHER, assembled, settled, unpack

ELSEWHERE = {
    "test_ada_machine_code.py": "QMMA QMMA.SP",
    "test_machine_code_rest.py": "ACQBULK B2R CCTLL PREEXIT R2P VHMNMX VIMNMX3",
    "test_machine_code_flow.py": "BPT BRX LDL LEPC P2R",
    "test_machine_code_barriers.py": "ARRIVES.LDGSTSBAR ATOMS.ARRIVE RPCMOV.32 SYNCS.ARRIVE "
    "SYNCS.CCTL SYNCS.PHASECHK UBLKCP",
    "test_sass_hopper.py": "BGMMA HGMMA IGMMA QGMMA UBLKPF.L2 UTMACCTL UTMALDG "
    "UTMAPF.L2 UTMAREDG UTMASTG WARPGROUP.ARRIVE WARPGROUP.DEPBAR",
    "test_hopper_machine_code.py": "UBLKRED USETMAXREG UTMACMDFLUSH",
    "test_triton_machine_code.py": "UIADD3.64",
    "test_cluster_machine_code.py": "UCGABAR_ARV UCGABAR_WAIT",
    "test_cubin.py": "UIMAD ULEA.HI YIELD",
    "test_cubin_textures.py": "SULD SUST TEX TLD TLD4 TXD",
    "test_cooperative_launches.py": "ENDCOLLECTIVE",
}
"""Opcodes that none of these kernels has; who executes them: here, tests/device, tests/runtime."""
UNSEEN = "BMOV.64 BRXU JMP JMX JMXU SURED TXQ UBMSK UP2UR UPLOP3.LUT UR2UP"
"""Those that the compilers made of nothing here; most share the code of one that is tested."""


def pytest_generate_tests(metafunc):
    if "kernel_name" in metafunc.fixturenames:
        everything = metafunc.config.getoption("all_machine_code")
        metafunc.parametrize(
            "architecture, kernel_name",
            [
                (architecture, name)
                for architecture in ARCHITECTURES
                for name, kernel in unpack(architecture)[1].items()
                if kernel.sampled or everything
            ],
        )


@pytest.fixture(scope="module")
def modules():
    with lockstep.Device("QV100", timing=False) as device:
        yield cache(lambda architecture: device.load_cubin(unpack(architecture)[0]))


def run(module, name, kernel):
    """The results of every row: of a thread each, or where operands are parameters of a launch."""
    bundle, device = kernel.bundle, module.device
    out = device.array(np.zeros(bundle.result_bytes, np.uint8))
    work = device.array(np.zeros(SCRATCH * len(bundle.rows), np.uint8))
    if kernel.uniform:
        each = bundle.result_bytes // len(bundle.rows)
        for number, row in enumerate(bundle.rows):
            module[name][1, 1](0, out.pointer + each * number, work, *row)
    else:
        source = device.array(np.frombuffer(operand_bytes(bundle.rows), np.uint8))
        module[name][1, len(bundle.rows)](source, out, work)
    return results_of(bundle, out.numpy().tobytes())


@pytest.mark.long
def test_instructions_do_what_the_twin_does(modules, architecture, kernel_name):
    kernel = unpack(architecture)[1][kernel_name]
    got = run(modules(architecture), kernel_name, kernel)
    expected = twin_results(kernel.bundle)
    found = list(differences(kernel.bundle, settled(kernel.bundle, got, expected), expected))
    other = {case.name for case in kernel.bundle.cases} & OTHER
    wrong = [text for text in found if text.partition(": ")[0] not in other]
    assert not wrong, "\n".join(wrong)
    assert len(found) == len(other), "ptxas has come to agree with the manual"


def test_every_opcode_of_the_table_is_executed(modules):
    executed = set()
    for architecture in ARCHITECTURES:
        module, kernels = modules(architecture), unpack(architecture)[1]
        for function in module.cubin.kernels:
            if kernels[function.name].sampled:
                executed |= {name_of(i) for i in disassemble(function.code, architecture, 0)}
    known = " ".join((*ELSEWHERE.values(), UNSEEN)).split()
    assert set(TABLE) - executed == set(known)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_machine_code_is_of_the_cases_as_they_are(architecture):
    for name, kernel in unpack(architecture)[1].items():
        today = assembled(kernel.bundle, kernel.uniform).digest
        assert kernel.digest == today, f"{name} is out of date: run scripts/sass_twin.py"


@pytest.mark.parametrize(
    "word, operation",
    [
        ("8f790002000000000001800400e81f00", "PML2"),  # prefetch.global.L2::evict_last
        ("8f790002000000000001000500e21f00", "DML2"),  # applypriority
        ("8f790002000000000001800500e21f00", "RML2"),  # discard
    ],
)
def test_what_tells_the_l2_of_a_line_is_executed(word, operation):
    (instruction,) = disassemble(bytes.fromhex(word), 90, 0)
    assert instruction.opcode == f"CCTL.E.{operation}"
    assert not problem(instruction)

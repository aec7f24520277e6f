"""How many registers operands have: fixed examples, and fragments against their definition."""

import pytest

from lockstep.isa.sass.opcodes import decode
from lockstep.isa.sass.widths import ELEMENT_BITS, SHAPES


def widths(text, architecture=90):
    found = decode(text, architecture, False)
    return found.destination, found.sources


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FFMA", (1, (1,))),
        ("DFMA", (2, (2,))),
        ("IMAD.WIDE.U32", (2, (1, 1, 2))),
        ("IMAD.HI.U32", (1, (1, 1, 2))),
        ("IMAD", (1, (1,))),
        ("UIMAD.WIDE", (2, (1, 1, 2))),
        ("UIADD3.64", (2, (2,))),
        ("CS2R", (2, (1,))),
        ("CS2R.32", (1, (1,))),
        ("F2F.F64.F32", (2, (1,))),
        ("F2F.F32.F64", (1, (2,))),
        ("F2I.F64.TRUNC", (1, (2,))),
        ("F2I.S64.F64", (2, (2,))),
        ("F2I.U64.TRUNC", (2, (1,))),
        ("F2I.TRUNC.NTZ", (1, (1,))),
        ("I2F.F64", (2, (1,))),
        ("I2F.S64", (1, (2,))),
        ("I2F.F64.U64", (2, (2,))),
        ("FRND.F64.FLOOR", (2, (2,))),
        ("FRND", (1, (1,))),
    ],
)
def test_arithmetic(text, expected):
    assert widths(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("LDG.E.128", (4, (2, 4))),
        ("LDG.128", (4, (1, 4))),
        ("LD.E.64", (2, (2, 2))),
        ("LDS.U.128", (4, (1, 4))),
        ("LDL.64", (2, (1, 2))),
        ("LDG.E.U8", (1, (2, 1))),
        ("LDC.64", (2, (1, 2))),
        ("ULDC.64", (2, (1, 2))),
        ("STG.E.64", (2, (2, 2))),
        ("STS.128", (4, (1, 4))),
        ("ATOMG.E.ADD.64", (2, (2, 2))),
        ("ATOMG.E.CAS", (1, (2, 1))),
        ("LDSM.16.M88.4", (4, (1, 4))),
        ("LDSM.16.MT88.2", (2, (1, 2))),
        ("LDSM.16.M88", (1, (1, 1))),
        ("LDGSTS.E.BYPASS.128", (1, (1, 2))),
    ],
)
def test_memory(text, expected):
    assert widths(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SULD.D.BA.1D.64.STRONG.SM.TRAP", (2, (1, 1))),
        ("SULD.D.BA.2D.128.STRONG.SM.TRAP", (4, (2, 1))),
        ("SULD.D.BA.2D.U8.TRAP", (1, (2, 1))),
        ("SUST.D.BA.3D.128.STRONG.SM.TRAP", (4, (3, 4, 1))),
        ("SUST.D.BA.2D_ARRAY.64.STRONG.SM.TRAP", (2, (3, 2, 1))),
        ("SUST.D.BA.1D_ARRAY.STRONG.SM.TRAP", (1, (2, 1, 1))),
        ("SUST.P.2D.STRONG.SM.TRAP", (4, (2, 4, 1))),
        ("SUST.P.2D.STRONG.SM.RG.TRAP", (2, (2, 2, 1))),
        ("SUST.P.1D.STRONG.SM.R.TRAP", (1, (1, 1, 1))),
        ("SURED.D.BA.2D.ADD.U64.STRONG.SYS.TRAP", (2, (2, 2, 1))),
    ],
)
@pytest.mark.parametrize("architecture", [61, 70, 90])
def test_surfaces(text, expected, architecture):
    assert widths(text, architecture) == expected


def test_compare_and_swap_takes_one_operand_of_two_values_before_volta():
    assert widths("ATOM.E.CAS", 61) == (1, (2, 2))
    assert widths("ATOM.E.CAS.64", 61) == (2, (2, 4))
    assert widths("ATOM.E.CAS", 70) == (1, (2, 1))


@pytest.mark.parametrize(
    ("text", "architecture", "expected"),
    [
        ("HMMA.884.F32.F32.STEP0", 70, (2, (2, 2, 2, 1))),
        ("HMMA.1688.F32", 75, (4, (2, 1, 4, 1))),
        ("HMMA.1688.F16", 75, (2, (2, 1, 2, 1))),
        ("HMMA.16816.F32", 80, (4, (4, 2, 4, 1))),
        ("HMMA.16816.F16", 80, (2, (4, 2, 2, 1))),
        ("HMMA.16816.F32.BF16", 80, (4, (4, 2, 4, 1))),
        ("HMMA.1688.F32.TF32", 80, (4, (4, 2, 4, 1))),
        ("HMMA.SP.16832.F32", 80, (4, (4, 4, 4, 1))),
        ("IMMA.8816.S8.S8", 75, (2, (1, 1, 2, 1))),
        ("IMMA.16816.S8.S8.SAT", 80, (4, (2, 1, 4, 1))),
        ("IMMA.16864.S4.S4", 80, (4, (4, 2, 4, 1))),
        ("BMMA.168256.XOR.POPC", 80, (4, (4, 2, 4, 1))),
        ("DMMA.884", 80, (4, (2, 2, 4, 1))),
        ("QMMA.16832.F32.E4M3.E4M3", 89, (4, (4, 2, 4, 1))),
        ("HGMMA.64x128x16.F32", 90, (64, (4,))),
        ("HGMMA.64x256x16.F16", 90, (64, (4,))),
        ("IGMMA.64x8x32.S8.S8", 90, (4, (4,))),
    ],
)
def test_matrix_fragments(text, architecture, expected):
    assert widths(text, architecture) == expected


@pytest.mark.parametrize("shape", [s for s in SHAPES if s != "884"])
@pytest.mark.parametrize("kind", ["S8", "U8", "S4", "U4"])
def test_fragments_hold_each_element_once(shape, kind):
    m, n, k = SHAPES[shape]
    d, (a, b, c, _) = widths(f"IMMA.{shape}.{kind}.{kind}", 80)
    assert c == d == max(1, m * n // 32)
    assert a == max(1, m * k * ELEMENT_BITS[kind] // 1024)
    assert b == max(1, k * n * ELEMENT_BITS[kind] // 1024)

"""Opcode tables against the documented lists, and the meaning of modifiers."""

import inspect
import string
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.isa.instruction import CachePolicy, OpClass, Space
from lockstep.isa.sass.opcodes import (
    GENERATIONS,
    _made,
    decode,
    is_known,
    load,
    opcodes,
    table,
)

DOCUMENTED = tomllib.loads((Path(__file__).parent / "documented.toml").read_text())
VERSIONS = {
    35: "kepler", 50: "maxwell", 52: "maxwell", 60: "maxwell", 61: "maxwell", 62: "maxwell",
    70: "volta", 72: "volta", 75: "turing", 80: "ampere", 86: "ampere", 87: "ampere", 89: "ampere",
    90: "hopper", 100: "blackwell", 103: "blackwell", 120: "blackwell",
}  # fmt: skip
LATEST = 120
# What the first letters of an opcode say; the first prefix that fits counts.
FAMILIES = [
    (
        "TEXDEPBAR DEPBAR DECOMPRESS FENCE FLO FRND HMMA HGMMA ISBERD LDGDEPBAR LDGSTS LEA LEP LOP",
        None,
    ),
    ("MOVM SHFL", {OpClass.SHUFFLE}),
    ("BRA BRX JMP JMX CALL JCAL RET", {OpClass.BRANCH}),
    ("LDC ULDC", {OpClass.LOAD}),
    ("DMMA", {OpClass.DMMA}),
    (
        "UTMA UBLK",
        {OpClass.BULK_COPY, OpClass.BULK_STORE, OpClass.CACHE_CONTROL, OpClass.COMMIT_GROUP},
    ),
    ("HGMMA QGMMA IGMMA BGMMA", {OpClass.GMMA}),
    ("IMMA BMMA UTCIMMA", {OpClass.IMMA}),
    ("UTCHMMA UTCQMMA UTCOMMA QMMA OMMA", {OpClass.HMMA}),
    ("UCGABAR UMEMSETS UREDGR USTGR USYNCS", None),
    ("F2FP F2IP I2FP", {OpClass.PACK}),
    ("F2 I2", {OpClass.CONVERT}),
    ("IMAD IMUL IDP XMAD", {OpClass.IMAD}),
    ("ATOM SYNCS", {OpClass.ATOMIC}),
    ("REDUX CREDUX VOTEU", None),
    ("RED", {OpClass.REDUCTION}),
    ("SUB SUC SUE", {OpClass.INT32}),
    ("SU", {OpClass.SURFACE}),
    ("TEX TLD TX TMML", {OpClass.TEXTURE}),
    ("LD", {OpClass.LOAD}),
    ("ST", {OpClass.STORE}),
    ("CCTL", {OpClass.CACHE_CONTROL}),
    ("U", {OpClass.UNIFORM}),
    ("H VHMNMX", {OpClass.FP16}),
    ("D", {OpClass.FP64}),
    ("F", {OpClass.FP32, OpClass.INT32}),
    ("I VI VABS SHL SHR SHF SEL PRMT BFE BFI", {OpClass.INT32}),
    ("MUFU", {OpClass.SFU}),
    ("EXIT KILL", {OpClass.EXIT}),
    ("VOTE", {OpClass.VOTE}),
    ("MATCH", {OpClass.MATCH}),
    ("MOV", {OpClass.MOVE}),
    ("B2R S2R S2UR", {OpClass.SPECIAL_REGISTER}),
    ("CS2R", {OpClass.SPECIAL_MOVE, OpClass.SPECIAL_REGISTER}),
    ("BSSY BSYNC BREAK SSY SYNC WARP YIELD", {OpClass.CONVERGENCE}),
]


def family(opcode):
    for prefixes, classes in FAMILIES:
        if opcode.startswith(tuple(prefixes.split())):
            return classes
    return None


def meaning(text, architecture=LATEST, addressed=True):
    return decode(text, architecture, addressed)


@pytest.mark.parametrize("architecture", VERSIONS)
def test_every_documented_opcode_is_in_the_table(architecture):
    missing = set(DOCUMENTED[VERSIONS[architecture]].split()) - set(opcodes(architecture))
    assert not missing
    assert OpClass.UNKNOWN not in opcodes(architecture).values()


@pytest.mark.parametrize("architecture", VERSIONS)
def test_classes_agree_with_the_families_of_names(architecture):
    wrong = {
        opcode: op.name
        for opcode, op in opcodes(architecture).items()
        if family(opcode) and op not in family(opcode)
    }
    assert not wrong


@pytest.mark.parametrize("architecture", VERSIONS)
def test_memory_instructions_have_a_space_and_arithmetic_has_none(architecture):
    spaces = {
        OpClass.LOAD, OpClass.STORE, OpClass.ATOMIC, OpClass.REDUCTION, OpClass.ASYNC_COPY,
        OpClass.BULK_COPY, OpClass.BULK_STORE, OpClass.TEXTURE, OpClass.SURFACE,
    }  # fmt: skip
    for opcode, entry in table(architecture).entries.items():
        assert (entry.space != Space.NONE) == (entry.op in spaces), opcode


@pytest.mark.parametrize("name", GENERATIONS)
def test_no_opcode_stands_in_two_groups_of_one_file(name):
    path = Path(inspect.getfile(decode.__wrapped__)).parent / "tables" / f"{name}.toml"
    listed = [o for g in tomllib.loads(path.read_text()).get("group", ()) for o in g["opcodes"]]
    assert sorted(listed) == sorted(set(listed))


def test_a_version_between_generations_gets_the_older_one_and_an_unknown_one_the_newest():
    assert table(89).name == "Ada"
    assert table(88).name == "Ampere"
    assert table(70).name == table(74).name == "Volta"
    assert table(0).name == table(999).name == "Blackwell"


def test_known_means_listed_for_that_generation():
    assert is_known("XMAD.MRG", 61)
    assert not is_known("XMAD.MRG", 70)
    assert is_known("XMAD.MRG", 0)
    assert not is_known("FROBNICATE", 0)
    assert not is_known("LDGSTS.E.128", 75)
    assert is_known("LDGSTS.E.128", 80)


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("LDG.E.SYS", 4), ("LDG.E", 4), ("LDG.E.U8.SYS", 1), ("LDG.E.S8", 1), ("STG.E.U16", 2),
        ("LDG.E.S16", 2), ("LDG.E.64", 8), ("LDG.E.128.CONSTANT.SYS", 16), ("LDS.U.128", 16),
        ("LDS.U.32", 4), ("LDG.E.LTC128B.64", 8), ("LDG.E.ENL2.256", 32), ("LDSM.16.M88.4", 16),
        ("LDSM.16.MT88.2", 16), ("LDGSTS.E.BYPASS.LTC128B.128", 16), ("LDGSTS.E", 4),
        ("RED.E.ADD.F16x2.RN", 4), ("RED.E.ADD.F64.RN", 8), ("ATOMG.E.ADD.S32.STRONG.GPU", 4),
        ("ATOMG.E.CAS.64.STRONG.GPU", 8), ("SYNCS.ARRIVE.TRANS64", 8), ("LDL.LU.64", 8),
    ],
)  # fmt: skip
def test_the_access_width_is_in_the_modifiers(text, width):
    assert meaning(text).width == width


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("LDG.E.SYS", CachePolicy.DEFAULT),
        ("LDG.E.STRONG.CTA", CachePolicy.OF_CTA),
        ("LDG.E.STRONG.GPU", CachePolicy.BYPASS_L1),
        ("LDG.E.CG", CachePolicy.BYPASS_L1),
        ("LDGSTS.E.BYPASS.128", CachePolicy.BYPASS_L1),
        ("LDG.E.STRONG.SYS", CachePolicy.VOLATILE),
        ("LD.E.CV", CachePolicy.VOLATILE),
        ("LDG.E.EF.128", CachePolicy.STREAMING),
        ("STG.E.CS", CachePolicy.STREAMING),
        ("LDL.LU", CachePolicy.STREAMING),
        ("LDG.E.EL", CachePolicy.KEEP),
        ("LDG.E.NA.STRONG.GPU", CachePolicy.NO_ALLOCATE | CachePolicy.BYPASS_L1),
        ("FADD.FTZ", CachePolicy.DEFAULT),
    ],
)
def test_the_cache_policy_is_in_the_modifiers(text, policy):
    assert meaning(text, addressed=not text.startswith("F")).cache == policy


@pytest.mark.parametrize(
    ("text", "architecture", "op"),
    [
        ("BAR.SYNC", 70, OpClass.BARRIER),
        ("BAR.RED.POPC", 70, OpClass.BARRIER),
        ("BAR.ARV", 61, OpClass.ARRIVE),
        ("BAR.ARV", 90, OpClass.ARRIVE),
        ("DEPBAR.LE", 80, OpClass.WAIT_GROUP),
        ("DEPBAR.LE", 75, OpClass.NOP),
        ("DEPBAR", 80, OpClass.NOP),
        ("LDGDEPBAR", 80, OpClass.COMMIT_GROUP),
        ("HFMA2.MMA", 80, OpClass.FP16),
        ("IMAD.MOV.U32", 70, OpClass.IMAD),
        ("IMAD.SHL.U32", 70, OpClass.IMAD),
        ("FSETP.GT.AND", 61, OpClass.FP32),
        ("FSETP.GT.AND", 70, OpClass.INT32),
        ("F2FP.PACK_AB", 86, OpClass.PACK),
        ("NANOSLEEP", 70, OpClass.SLEEP),
        ("SYNCS.ARRIVE.TRANS64", 90, OpClass.ATOMIC),
        ("UTMALDG.2D", 90, OpClass.BULK_COPY),
        ("UTMASTG.2D", 90, OpClass.BULK_STORE),
        ("UBLKRED.G.S.ADD", 100, OpClass.BULK_STORE),
    ],
)
def test_classes_that_a_modifier_or_the_generation_decides(text, architecture, op):
    assert decode(text, architecture, False).op == op


@pytest.mark.parametrize(
    ("text", "addressed", "op"),
    [
        ("XMAD.MRG", False, OpClass.IMAD),  # known to an older generation
        ("IADD7.X", False, OpClass.INT32),  # begins with a known name
        ("HNEW2", False, OpClass.FP16),
        ("DNEW", False, OpClass.FP64),
        ("FNEW", False, OpClass.FP32),
        ("INEW", False, OpClass.INT32),
        ("UNEW", False, OpClass.UNIFORM),
        ("LDNEW.E", True, OpClass.LOAD),
        ("STNEW.E", True, OpClass.STORE),
        ("ATOMNEW", True, OpClass.ATOMIC),
        ("REDNEW", True, OpClass.REDUCTION),
        ("FNEW", True, OpClass.LOAD),  # it has addresses, so it accesses memory
        ("ZNEW", True, OpClass.LOAD),
        ("ZNEW", False, OpClass.UNKNOWN),
    ],
)
def test_an_unknown_opcode_is_classed_by_its_family(text, addressed, op):
    assert decode(text, 70, addressed).op == op


@given(
    st.text(string.ascii_uppercase + string.digits + "._", max_size=24),
    st.integers(0, 130),
    st.booleans(),
)
def test_any_text_has_a_meaning_and_addresses_mean_a_width_and_a_space(text, version, addressed):
    found = decode(text, version, addressed)
    assert 0 <= found.width <= 64
    assert found.destination >= 1
    assert min(found.sources) >= 1
    if addressed:
        assert found.width > 0
        assert found.space != Space.NONE


@pytest.mark.parametrize("name", GENERATIONS)
def test_a_table_that_was_kept_is_the_one_in_its_file(name):
    load(name)  # kept now, if it was not
    load.cache_clear()
    kept, read = load(name), _made(name)
    assert kept == read and repr(kept) == repr(read)

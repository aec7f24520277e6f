"""Which bits of an instruction are what: one line for each encoding, as in AMD's manual.

Bits are numbered from the lowest of the first word; those from 32 on are of the second. ``op`` is
the opcode. A prefix is compared with the highest bits of the first word, longest first.
"""

from dataclasses import dataclass

from lockstep.isa.gcn.instruction import Format

_VOP3 = "op 25:17, vdst 7:0, src0 40:32, src1 49:41, src2 58:50, omod 60:59, neg 63:61"
_BUFFER = (
    "glc 14, idxen 13, offen 12, offset 11:0, "
    "soffset 63:56, tfe 55, slc 54, srsrc 52:48, vdata 47:40, vaddr 39:32"
)
_LAYOUTS = {
    Format.SOP2: "op 29:23, sdst 22:16, ssrc1 15:8, ssrc0 7:0",
    Format.SOPK: "op 27:23, sdst 22:16, simm16 15:0",
    Format.SOP1: "sdst 22:16, op 15:8, ssrc0 7:0",
    Format.SOPC: "op 22:16, ssrc1 15:8, ssrc0 7:0",
    Format.SOPP: "op 22:16, simm16 15:0",
    Format.SMRD: "op 26:22, sdst 21:15, sbase 14:9, imm 8, offset 7:0",
    Format.VOP2: "op 30:25, vdst 24:17, vsrc1 16:9, src0 8:0",
    Format.VOP1: "vdst 24:17, op 16:9, src0 8:0",
    Format.VOPC: "op 24:17, vsrc1 16:9, src0 8:0",
    Format.VOP3A: f"clamp 11, abs 10:8, {_VOP3}",
    Format.VOP3B: f"sdst 14:8, {_VOP3}",
    Format.VINTRP: "vdst 25:18, op 17:16, attribute 15:10, channel 9:8, vsrc 7:0",
    Format.DS: "op 25:18, gds 17, offset1 15:8, offset0 7:0, "
    "vdst 63:56, data1 55:48, data0 47:40, addr 39:32",
    Format.MUBUF: f"op 24:18, lds 16, addr64 15, {_BUFFER}",
    Format.MTBUF: f"nfmt 25:23, dfmt 22:19, op 18:16, addr64 15, {_BUFFER}",
    Format.MIMG: "slc 25, op 24:18, lwe 17, tfe 16, r128 15, da 14, glc 13, unorm 12, dmask 11:8, "
    "ssamp 57:53, srsrc 52:48, vdata 47:40, vaddr 39:32",
    Format.EXP: "vm 12, done 11, compr 10, target 9:4, enable 3:0, "
    "vsrc3 63:56, vsrc2 55:48, vsrc1 47:40, vsrc0 39:32",
}
_PREFIXES = """
SOP1 101111101, SOPC 101111110, SOPP 101111111, VOP1 0111111, VOPC 0111110, VOP3A 110100,
VINTRP 110010, DS 110110, MUBUF 111000, MTBUF 111010, MIMG 111100, EXP 111110, SMRD 11000,
SOPK 1011, SOP2 10, VOP2 0
"""
_TWO_WORDS = {
    *(Format.VOP3A, Format.VOP3B, Format.DS, Format.MUBUF),
    *(Format.MTBUF, Format.MIMG, Format.EXP),
}


@dataclass(frozen=True, slots=True)
class BitLayout:
    """One encoding: words without a literal, where the opcode is, (name, shift, mask) of fields."""

    words: int
    opcode: tuple[int, int]
    fields: tuple[tuple[str, int, int], ...]


def _layout(format: Format, text: str) -> BitLayout:
    places = {}
    for part in text.split(", "):
        name, bits = part.split()
        high, _, low = bits.partition(":")
        shift = int(low or high)
        places[name] = (shift, (1 << int(high) - shift + 1) - 1)
    opcode = places.pop("op", (0, 0))
    fields = tuple((name, *place) for name, place in places.items())
    return BitLayout(2 if format in _TWO_WORDS else 1, opcode, fields)


def _formats() -> tuple[Format | None, ...]:
    """The format of each of the 512 values of the highest nine bits."""
    prefixes = [part.split() for part in _PREFIXES.replace("\n", " ").strip().split(", ")]
    prefixes.sort(key=lambda pair: -len(pair[1]))
    heads = [f"{head:09b}" for head in range(512)]
    return tuple(
        next((Format[name] for name, prefix in prefixes if head.startswith(prefix)), None)
        for head in heads
    )


LAYOUTS = {format: _layout(format, text) for format, text in _LAYOUTS.items()}
FORMATS = _formats()
HEAD_SHIFT = 23  # a word shifted right by it is an index into FORMATS

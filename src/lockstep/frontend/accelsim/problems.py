"""Outcomes of the jitted readers that are the text's fault, as messages."""

from lockstep.frontend.accelsim import parser
from lockstep.frontend.accelsim.header import Header

_EXPECTED = {
    parser.BAD_PREFIX: "the numbers of the thread block and warp before the pc",
    parser.BAD_LINEINFO: "a source line number",
    parser.BAD_PC: "a pc of 1 to 8 hex digits",
    parser.BAD_MASK: "an active mask of 8 hex digits",
    parser.BAD_HEAD: "registers with their counts, the opcode, and 0 or the access width",
    parser.BAD_MODE: "address mode 0, 1 or 2",
    parser.BAD_ADDRESS: "an address 0x... for each lane of the mask",
    parser.BAD_STRIDE: "a stride of 32 bits",
    parser.BAD_DELTA: "an address difference for each further lane of the mask",
    parser.BAD_BULK: "barrier, multicast, bytes, bytes outside, mode 3 or 4 and addresses",
    parser.BAD_IMMEDIATE: "an immediate",
    parser.BAD_VALUES: "'NoVal', or 'Val' and the registers' values",
    parser.EXTRA_WORD: "the end of the line",
    parser.STRAY_LINE: "an instruction or the next part of a thread block",
    parser.BAD_BLOCK: "thread block coordinates x,y,z",
    parser.BAD_CLUSTER: "cluster coordinates",
    parser.BAD_WARP: "a warp number",
    parser.BAD_COUNT: "a number of instructions",
}


def describe(outcome: int, state, buffer, header: Header, missing: list[int]) -> str:
    """One line of text: what was expected and what was found."""
    s = state
    x, y, z, warp = (int(n) for n in s.place)
    if outcome in _EXPECTED:
        return f"expected {_EXPECTED[outcome]}, found {found(buffer, int(s.fault))}"
    if outcome == parser.WRONG_PLACE:
        return f"the line is not of thread block {x},{y},{z}, warp {warp}, whose section this is"
    if outcome == parser.MASK_OUTSIDE:
        return f"the mask has lanes that warp {warp} of {header.threads} threads lacks"
    if outcome == parser.SPLIT_STRIDE:
        return "a stride describes neighbouring lanes only, and the mask has a gap"
    if outcome == parser.LONE_PAIR:
        return "expected LDGSTS in two lines of the same pc (shared, then global address)"
    if outcome == parser.BLOCK_RANGE:
        return f"thread block {x},{y},{z} lies outside the grid {header.grid}"
    if outcome == parser.WARP_RANGE:
        return f"expected a warp from 0 to {header.warps - 1}, found {int(s.found)}"
    if outcome == parser.WARP_TWICE:
        return f"warp {int(s.found)} was already given in thread block {x},{y},{z}"
    if outcome == parser.WARPS_MISSING:
        return f"thread block {x},{y},{z} lacks warp {missing[0]} of its {header.warps}"
    counts = f"expected {int(s.declared)} instructions in warp {warp} of thread block {x},{y},{z}"
    if outcome == parser.FEW_LINES:
        return f"{counts}, found {int(s.instructions)}"
    return f"{counts}, found more"


def found(buffer, position: int) -> str:
    """The word at ``position``, for a message."""
    text = bytes(buffer[position : position + 40])
    if text[:1] in (b"\n", b"\r", b""):
        return "the end of the line"
    return repr(text.split(None, 1)[0].decode("ascii", "replace")) if text.split() else "nothing"

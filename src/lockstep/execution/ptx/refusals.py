"""Instructions of the PTX ISA that cannot be executed, and why.

What is neither here nor in the table of opcodes is no instruction of the PTX ISA (version 8.8, as
ptxas 13.0 has it).
"""

import functools
import re

from lockstep.execution.ptx.opcodes import pattern_of

_BLACKWELL = "an instruction of sm_100 and later"
REFUSED: dict[str, str] = {
    "cp.async.bulk*.cp_mask*": _BLACKWELL,
    "cp*.tensor.*{tile::gather4,tile::scatter4,im2col::w,cta_group}*": _BLACKWELL,
    "cvt.*{e2m1,e2m3,e3m2,ue8m0}*": _BLACKWELL,
    "ldmatrix.*.b8": _BLACKWELL,
    "{min,max}*.xorsign.f32": "an operation of three operands, of sm_100 and later",
    "multimem.*": "an address is that of one GPU's memory",
    "st.bulk*": _BLACKWELL,
    "stmatrix.*.b8": _BLACKWELL,
    "{tcgen05,clusterlaunchcontrol}.*": _BLACKWELL,
    "tensormap.replace.tile.swizzle_atomicity.*": _BLACKWELL,
    "{txq,suq}.{channel_data_type,channel_order}.b32": "a number of another language than CUDA",
}
"""Names, ``{a,b}`` for alternatives, ``*`` for whatever there is; the first that fits counts."""


@functools.cache
def _patterns() -> list[tuple[re.Pattern, str]]:
    found = ((pattern_of(name).pattern.replace(r"\*", ".*"), why) for name, why in REFUSED.items())
    return [(re.compile(pattern), why) for pattern, why in found]


def refusal(name: str) -> str:
    """Why an instruction that is not in the table cannot be executed."""
    why = unsupported(name)
    if why is None:
        return f"the PTX ISA has no instruction {name}"
    return f"instruction {name} is not supported: {why}"


def unsupported(name: str) -> str | None:
    """Why an instruction of the PTX ISA is refused; None if it is none."""
    return next((why for pattern, why in _patterns() if pattern.fullmatch(name)), None)

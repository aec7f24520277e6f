"""The instructions of a kernel drawn from a model: one a site, then EXIT.

Whatever accesses memory waits for the load before it: the paper has a warp rest for as long as an
access takes.
"""

import numpy as np

from lockstep.isa.instruction import OpClass
from lockstep.isa.sass import assembly
from lockstep.workload import Code

ARCHITECTURE = 70  # of whose instructions the code is
_TEXTS = {
    OpClass.LOAD: "LDG.E{whole}{past} R4, [R4]",
    OpClass.STORE: "STG.E{whole}{past} [R4], R8",
    OpClass.ATOMIC: "ATOMG.E.ADD.STRONG.GPU PT, R4, [R4], R8",
    OpClass.BARRIER: "BAR.SYNC 0x0",
    OpClass.CACHE_CONTROL: "CCTL.IVALL",
}


def code_of(sites: np.ndarray) -> Code:
    """An instruction for each site, of SITE records, then EXIT."""
    code = Code()
    for number, site in enumerate(sites):
        text = _TEXTS[OpClass(site["op"])].format(
            whole=".128" if site["whole"] else "", past=".STRONG.GPU" if site["past_l1"] else ""
        )
        _append(code, text, number)
    _append(code, "EXIT", len(sites))
    return code


def _append(code: Code, text: str, number: int) -> None:
    record, opcode = assembly.parse(text, ARCHITECTURE, number * 16, "[" in text or None)
    if opcode not in code.texts:
        code.texts.append(opcode)
    record["text"] = code.texts.index(opcode)
    code.extend(record)

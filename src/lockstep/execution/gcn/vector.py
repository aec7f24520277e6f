"""All arithmetic of the vector unit, by LLVM's mnemonic.

What moves values between lanes or picks registers by number is no arithmetic, and not here.
Operands are those of the assembler: of ``v_madmk_f32`` and ``v_madak_f32`` the constant is where
it is written. Behind them come, where there is one, the old content of the destination
(``READS_DESTINATION``) and the mask of lanes that VCC or a pair of SGPRs is (``v_addc`` and
the like, ``v_cndmask``, ``v_div_fmas``).
"""

from lockstep.execution.gcn.arithmetic import Table
from lockstep.execution.gcn.bits import BITS
from lockstep.execution.gcn.compare import COMPARE
from lockstep.execution.gcn.convert import CONVERT
from lockstep.execution.gcn.cube import CUBE
from lockstep.execution.gcn.division import DIVISION
from lockstep.execution.gcn.double import DOUBLE
from lockstep.execution.gcn.elementary import ELEMENTARY
from lockstep.execution.gcn.exponents import EXPONENTS
from lockstep.execution.gcn.floating import FLOATING
from lockstep.execution.gcn.integer import INTEGER
from lockstep.execution.gcn.packed import PACKED
from lockstep.execution.gcn.reduction import REDUCTION

VECTOR: Table = {
    **INTEGER,
    **BITS,
    **PACKED,
    **FLOATING,
    **DOUBLE,
    **EXPONENTS,
    **DIVISION,
    **ELEMENTARY,
    **REDUCTION,
    **CUBE,
    **CONVERT,
    **COMPARE,
}

READS_DESTINATION = frozenset(("v_mac_f32", "v_mac_legacy_f32", "v_cvt_pkaccum_u8_f32"))
"""Operations whose last operand is what the destination holds."""

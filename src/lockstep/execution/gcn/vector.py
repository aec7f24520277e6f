"""All arithmetic of the vector unit, by LLVM's mnemonic.

What moves values between lanes or picks registers by number is no arithmetic, and not here.
Operands are in the order of ``isa.gcn.operations``, which has the destination among them where its
old content counts. A set of lanes, be it VCC or another pair of scalar registers, is a predicate:
as an operand the last one, as a result the second one, or the only one of comparisons. It has lanes
outside EXEC: the caller takes them away.
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

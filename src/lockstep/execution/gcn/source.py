"""What a binary says of a kernel, as far as execution needs it."""

from dataclasses import dataclass

from lockstep.errors import LockstepError
from lockstep.execution.gcn.float_mode import FloatMode
from lockstep.isa.gcn.instruction import Instruction
from lockstep.isa.gcn.spelling import spell

LANES = 64  # of a wavefront
MOST_LDS_BYTES = 1 << 15  # that a work-group can have
USER_BYTES = 64  # of the user registers, with which the block of a launch begins


@dataclass(frozen=True)
class Source:
    """One kernel: its instructions, and how its wavefronts start.

    ``user_scalars``: scalar registers that the launch's block fills; the enabled ones of the three
    group ids (``groups``) follow. ``items``: how many components of the work-item id are in v0 on.
    ``vectors`` and ``scalars``: registers of a wavefront. ``float_mode``: how it computes; None
    is AMD's compiler's.
    """

    name: str
    code: tuple[Instruction, ...]
    vectors: int
    scalars: int
    user_scalars: int
    groups: tuple[bool, bool, bool] = (True, False, False)
    items: int = 1
    lds_bytes: int = 0
    file: str = ""
    float_mode: FloatMode | None = None

    def refuse(self, instruction: Instruction, reason: str) -> LockstepError:
        """The error for an instruction that cannot be executed."""
        place = f"{self.file}: kernel {self.name}, {instruction.offset:#06x}"
        return LockstepError(f"{place} {spell(instruction)}: {reason}")

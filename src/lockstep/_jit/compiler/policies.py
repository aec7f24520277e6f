"""A user's policy, compiled alone."""

import numba
from numba.core.ccallback import CFunc

from lockstep._jit.compiler import parts  # noqa: F401, Numba learns what functions of ours are
from lockstep._jit.compiler.types import signature
from lockstep._jit.holding import SignalHold
from lockstep._jit.kinds import Callable
from lockstep._jit.settings import CALLBACK_OPTIONS


class _Policy(CFunc):
    """Refuses what Numba would convert: a fraction would be cut off without a word."""

    def _compile_uncached(self):
        result = super()._compile_uncached()
        code = result.type_annotation
        for block in code.blocks.values():
            for value in block.find_exprs("cast"):  # before each return, and nowhere else
                found = numba.types.unliteral(code.typemap[value.value.name])
                if not isinstance(found, numba.types.Integer | numba.types.Boolean):
                    raise TypeError(f"it returns {found}; expected an integer")
        return result


def compile_policy(function, kind: Callable) -> CFunc:
    """A function that is called through its address. Raises TypeError if it gives no integer."""
    expected = signature(kind)
    compiled = _Policy(function, (expected.args, expected.return_type), {}, CALLBACK_OPTIONS)
    with SignalHold().held():  # LLVM calls back
        compiled.compile()
    return compiled

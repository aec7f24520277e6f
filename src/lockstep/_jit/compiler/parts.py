"""Functions that only compiled functions call: compiled as parts of those, not by themselves.

Numba takes every function through all of LLVM, to machine code, before it compiles a caller,
which then contains the function: along a chain of calls the innermost is optimised and written
once for each caller above it. Here a part stays LLVM code as Numba wrote it, and LLVM works once,
on the function that is called from outside, with all its parts. Compiling the model takes less
than half as long.
"""

import functools

import numba
from numba.core import compiler, registry
from numba.core.codegen import JITCodeLibrary
from numba.core.dispatcher import _FunctionCompiler
from numba.extending import typeof_impl

from lockstep._jit.compiler import intrinsics
from lockstep._jit.function import ModelFunction
from lockstep._jit.intrinsics import Intrinsic
from lockstep._jit.settings import OPTIONS


class _Library(JITCodeLibrary):
    """LLVM code that waits for a caller: linked with its own parts, and no more."""

    def _optimize_final_module(self):
        """The caller's library does it."""

    def _finalize_final_module(self):
        self._finalized = True


class PartFlags(compiler.Flags):
    """Numba's flags, compared by what is set.

    Numba keeps functions by flags, and looks at all options, most of them defaults, each time: a
    twentieth of the time to compile the model. The hash is that of Numba's: of the names alone.
    """

    def __hash__(self):
        return _HASH

    def __eq__(self, other):
        same = isinstance(other, compiler.Flags) and self._values == other._values
        return same or super().__eq__(other)


_HASH = hash(compiler.Flags())


class _PartCompiler(_FunctionCompiler):
    """Compiles up to LLVM code, without what a call from Python needs."""

    def _compile_core(self, args, return_type):
        context = self.targetdescr.target_context
        flags = PartFlags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        result = compiler.compile_extra(
            self.targetdescr.typing_context,
            context,
            self.py_func,
            args,
            return_type,
            flags,
            self.locals,
            _Library(context.codegen(), self.py_func.__qualname__),
        )
        entry = object()  # by which callers find it; Numba takes the machine code's address
        context.insert_user_function(entry, result.fndesc, [result.library])
        return result._replace(entry_point=entry)


class PartDispatcher(registry.CPUDispatcher):
    """A function that others contain. It has no machine code of its own."""

    def __init__(self, function, **options):
        super().__init__(function, targetoptions={"nopython": True} | options)
        self._compiler = _PartCompiler(
            function, self.targetdescr, self.targetoptions, self.locals, compiler.Compiler
        )

    def get_call_template(self, args, kws):
        """One compilation for all integers: Numba makes one more for each constant argument."""
        return super().get_call_template(tuple(map(numba.types.unliteral, args)), kws)

    def add_overload(self, cres):
        """For callers alone: the dispatcher itself must not find what has no machine code."""
        self.overloads[tuple(cres.signature.args)] = cres


@functools.cache
def dispatcher(function: ModelFunction):
    """What Numba takes a function of the model for where compiled code calls it."""
    return PartDispatcher(
        function.py_func, **({"forceinline": True} if function.forced else {}), **OPTIONS
    )


@typeof_impl.register(ModelFunction)
def _type_of_function(value, _):
    return numba.types.Dispatcher(dispatcher(value))


@typeof_impl.register(Intrinsic)
def _type_of_intrinsic(value, _):
    found = intrinsics.BY_NAME[value.name]
    return numba.core.registry.cpu_target.typing_context.resolve_value_type(found)

"""Functions that are called from outside: from Python, or through their addresses."""

import ctypes
import hashlib
from dataclasses import dataclass

import numba
from llvmlite import ir
from numba.core import cgutils, registry
from numba.core.compiler_lock import global_compiler_lock

from lockstep._jit.collection import without_collection
from lockstep._jit.compiler.parts import PartDispatcher
from lockstep._jit.compiler.told import telling
from lockstep._jit.compiler.types import make_array, numba_type
from lockstep._jit.holding import SignalHold
from lockstep._jit.settings import CALLBACK, OPTIONS

_WORD = ir.IntType(64)
_OUT_OF_BOUNDS = b"lockstep: an index is out of bounds in %s\n\0"
_alive: list[object] = []


@dataclass(frozen=True)
class Compiled:
    """Object code and where it is in this process; None if it holds addresses of the process.

    ``results`` are the kinds of what it gives, of which it may give ``several``.
    """

    symbol: str
    results: list[str]
    several: bool
    objects: bytes | None
    address: int


@global_compiler_lock
def compile_entry(function, form: str, kinds: tuple) -> Compiled:
    """Compile a plain function for arguments of some kinds."""
    types = tuple(map(numba_type, kinds))
    expected = numba.types.int64 if form == CALLBACK else None
    with SignalHold().held():  # Numba compiles its own runtime when this is first done
        registry.cpu_target.target_context.refresh()
    with telling(), without_collection():
        part = PartDispatcher(function, **OPTIONS)._compiler.compile(types, expected)
    context = part.target_context
    digest = hashlib.sha256(" ".join([form, *map(str, kinds)]).encode()).hexdigest()[:16]
    symbol = f"lockstep.{function.__module__}.{function.__qualname__}.{digest}"
    library = context.codegen().create_library(symbol)
    library.enable_object_caching()
    library.add_linking_library(part.library)
    module = context.create_module(symbol)
    write = _write_callback if form == CALLBACK else _write_entry
    write(context, module, symbol, part)
    library.add_ir_module(module)
    with SignalHold().held():  # LLVM tells Numba the object code by a callback
        library.finalize()
        address = library.get_pointer_to_function(symbol)
    _alive.append(library)
    results, several = _results(part.signature.return_type)
    alone = not library.has_dynamic_globals and _stands_alone(library._final_module)
    objects = library._get_compiled_object() if alone else None
    return Compiled(symbol, list(map(str, results)), several, objects, address)


def _stands_alone(module) -> bool:
    """Whether a process without Numba has all that the code calls."""
    process = ctypes.CDLL(None)
    needed = [f.name for f in module.functions if f.is_declaration]
    outside = [name for name in needed if not name.startswith("llvm.")]
    return all(hasattr(process, name) and not name.startswith(("Py", "_Py")) for name in outside)


def _results(given) -> tuple[tuple, bool]:
    """The types of what a function gives: none, one, or several."""
    if given == numba.types.none:
        return (), False
    if isinstance(given, numba.types.BaseTuple):
        return tuple(map(_number, given)), True
    return (_number(given),), False


def _number(kind):
    kind = numba.types.unliteral(getattr(kind, "dtype", kind))
    known = numba.types.Integer | numba.types.Boolean
    if not (isinstance(kind, known) or kind == numba.types.float64):
        raise TypeError(f"compiled code gives no {kind}")
    return "boolean" if kind == numba.types.boolean else kind


def _write_entry(context, module, symbol: str, part) -> None:
    """``int64 entry(int64 *words)``: takes arguments from the words and puts results there.

    It gives 0, or 1 if an index was out of bounds.
    """
    kind = ir.FunctionType(_WORD, [_WORD.as_pointer()])
    builder = ir.IRBuilder(ir.Function(module, kind, symbol).append_basic_block("entry"))
    words = _Words(context, builder, builder.function.args[0])
    arguments = [words.take(argument) for argument in part.signature.args]
    status, result = _call(context, builder, part, arguments)
    with builder.if_then(status.is_error, likely=False):
        builder.ret(ir.Constant(_WORD, 1))
    given = part.signature.return_type
    results, several = _results(given)
    values = cgutils.unpack_tuple(builder, result) if several else [result]
    for k, value in enumerate(values[: len(results)]):
        types = list(given) if several else [given]
        place = builder.gep(words.block, [ir.Constant(_WORD, k)])
        builder.store(_to_word(builder, types[k], value), place)
    builder.ret(ir.Constant(_WORD, 0))


def _write_callback(context, module, symbol: str, part) -> None:
    """A C function, as Numba calls those that it knows by their addresses."""
    types = [context.get_value_type(argument) for argument in part.signature.args]
    kind = ir.FunctionType(context.get_value_type(part.signature.return_type), types)
    builder = ir.IRBuilder(ir.Function(module, kind, symbol).append_basic_block("entry"))
    status, result = _call(context, builder, part, builder.function.args)
    with builder.if_then(status.is_error, likely=False):
        _stop(builder, part.fndesc.qualname)
    builder.ret(result)


def _call(context, builder, part, arguments):
    callee = context.declare_function(builder.module, part.fndesc)
    return context.call_conv.call_function(
        builder, callee, part.signature.return_type, part.signature.args, arguments
    )


def _stop(builder, name: str) -> None:
    """Nothing can be passed on through a caller that is compiled, too: say it and end here."""
    module, text = builder.module, ir.IntType(8).as_pointer()
    message = _OUT_OF_BOUNDS.replace(b"%s", name.encode())
    constant = cgutils.global_constant(module, "message", cgutils.make_bytearray(message))
    number = ir.IntType(32)
    write = cgutils.get_or_insert_function(
        module, ir.FunctionType(_WORD, [number, text, _WORD]), "write"
    )
    length = ir.Constant(_WORD, len(message) - 1)
    builder.call(write, [ir.Constant(number, 2), builder.bitcast(constant, text), length])
    abort = cgutils.get_or_insert_function(module, ir.FunctionType(ir.VoidType(), []), "abort")
    builder.call(abort, [])


def _to_word(builder, kind, value):
    """A number as Python reads it from a word."""
    kind = getattr(kind, "dtype", kind)
    if isinstance(kind, numba.types.Float):
        return builder.bitcast(value, _WORD)
    widen = builder.sext if getattr(kind, "signed", False) else builder.zext
    return widen(value, _WORD) if value.type.width < _WORD.width else value


class _Words:
    """The block of words that an entry is called with, see ``_jit/kinds.py``."""

    def __init__(self, context, builder, block):
        self._context, self._builder, self.block = context, builder, block
        self._at = 0

    def _next(self):
        place = self._builder.gep(self.block, [ir.Constant(_WORD, self._at)])
        self._at += 1
        return self._builder.load(place)

    def take(self, kind):
        """The next argument, of a Numba type."""
        context, builder = self._context, self._builder
        if isinstance(kind, numba.types.BaseTuple):
            return context.make_tuple(builder, kind, [self.take(member) for member in kind])
        if kind == numba.types.none:
            return context.get_dummy_value()
        word = self._next()
        if isinstance(kind, numba.types.Array):
            shape = [self._next() for _ in range(kind.ndim)]
            strides = None if kind.layout == "C" else [self._next() for _ in range(kind.ndim)]
            return make_array(context, builder, kind, word, shape, strides)
        if isinstance(kind, numba.types.Float):
            return builder.bitcast(word, ir.DoubleType())
        if isinstance(kind, numba.types.Boolean):
            return builder.icmp_unsigned("!=", word, ir.Constant(_WORD, 0))
        if isinstance(kind, numba.types.Integer):
            return builder.trunc(word, context.get_value_type(kind)) if kind.bitwidth < 64 else word
        return builder.inttoptr(word, context.get_value_type(kind))

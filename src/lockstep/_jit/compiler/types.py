"""Numba's types for our kinds, and how compiled code reads a context."""

import functools

import numba
from llvmlite import ir
from numba import extending
from numba.core.typing.templates import AttributeTemplate
from numba.np import arrayobj

from lockstep._jit.context import ContextKind
from lockstep._jit.kinds import Array, Callable, Tuple


class ContextType(numba.types.Type):
    """A context: its members' types, and where they lie in the block."""

    def __init__(self, kind: ContextKind):
        self.members = {field: numba_type(member) for field, member in kind.members.items()}
        self.places = kind.places
        super().__init__(name=str(kind))


@functools.cache
def numba_type(kind):
    """Numba's type of a kind."""
    if isinstance(kind, str):
        return getattr(numba.types, kind)
    if isinstance(kind, Array):
        dtype = _record_type(kind.dtype)
        return numba.types.Array(dtype, kind.ndim, kind.layout, readonly=not kind.writable)
    if isinstance(kind, Tuple):
        members = list(map(numba_type, kind.members))
        return numba.types.BaseTuple.from_types(members, kind.made)
    if isinstance(kind, Callable):
        return numba.types.ExternalFunctionPointer(signature(kind), None)
    return ContextType(kind)


def signature(kind: Callable):
    """Numba's signature of a function that is called through its address."""
    return numba_type(kind.result)(*map(numba_type, kind.arguments))


class ModelRecord(numba.types.Record):
    """A record whose integers compiled code takes as 64 bits, however narrow they are kept."""


def _record_type(dtype):
    """Numba's type of an array's elements."""
    found = numba.from_dtype(dtype)
    if isinstance(found, numba.types.Record):
        fields = [(name, field._asdict()) for name, field in found.fields.items()]
        return ModelRecord(fields, found.size, found.aligned)
    return found


@extending.register_model(ModelRecord)
class _RecordModel(extending.models.RecordModel):
    pass


def _read_as(kind):
    narrow = isinstance(kind, numba.types.Integer) and kind.bitwidth < 64
    return numba.types.int64 if narrow else kind


@extending.infer_getattr
class _RecordAttribute(AttributeTemplate):
    key = ModelRecord

    def generic_resolve(self, kind, name):
        return _read_as(kind.typeof(name))


@extending.lower_getattr_generic(ModelRecord)
def _lower_record_attribute(context, builder, kind, value, name):
    kept = kind.typeof(name)
    found = arrayobj.record_getattr(context, builder, kind, value, name)
    return context.cast(builder, found, kept, _read_as(kept))


@extending.register_model(ContextType)
class _ContextModel(extending.models.OpaqueModel):
    pass


@extending.infer_getattr
class _ContextAttribute(AttributeTemplate):
    key = ContextType

    def generic_resolve(self, kind, name):
        return kind.members.get(name)


def _load_words(builder, address, first: int, count: int) -> list:
    """Words of a block. It never changes while compiled code runs, and LLVM may know that."""
    word = ir.IntType(64)
    words = builder.bitcast(address, word.as_pointer())
    loaded = []
    for k in range(first, first + count):
        value = builder.load(builder.gep(words, [ir.Constant(word, k)]))
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        loaded.append(value)
    return loaded


@extending.lower_getattr_generic(ContextType)
def _lower_context_attribute(context, builder, kind, value, name):
    member, place = kind.members[name], kind.places[name]
    if isinstance(member, ContextType | numba.types.ExternalFunctionPointer):
        return builder.inttoptr(
            _load_words(builder, value, place, 1)[0], context.get_value_type(member)
        )
    data, *shape = _load_words(builder, value, place, 1 + member.ndim)
    return make_array(context, builder, member, data, shape)


def make_array(context, builder, member, data, shape, strides=None):
    """The array structure of Numba for data at an address; C-contiguous without ``strides``."""
    array = context.make_array(member)(context, builder)
    size = context.get_abi_sizeof(context.get_data_type(member.dtype))
    stride = ir.Constant(ir.IntType(64), size)
    if strides is None:
        strides = []
        for length in reversed(shape):
            strides.insert(0, stride)
            stride = builder.mul(stride, length, flags=["nsw"])
    pointer = context.get_data_type(member.dtype).as_pointer()
    data = builder.inttoptr(data, pointer)
    arrayobj.populate_array(array, data, shape, strides, size, None)
    return array._getvalue()

"""State that compiled functions share: many arrays behind one pointer."""

import functools
import hashlib

import numba
import numpy as np
from llvmlite import ir
from numba import extending
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.np import arrayobj

from lockstep._jit.cache import DISABLED
from lockstep._jit.compilation import record_array


class Context:
    """Base of the state that the model's functions share: named arrays, behind one pointer.

    A subclass lists its fields with annotations: NumPy arrays, other contexts, or policies. It
    is made, read and copied like a named tuple. For compiled code it is the address of a block
    that holds the address and shape of each array, so that a call passes one argument however
    much state there is. A named tuple of fifty arrays, which Numba passes as 350 values, took
    four times as long to compile and a millisecond to call from Python.
    """

    _fields: tuple[str, ...] = ()

    def __init_subclass__(cls):
        """Take the fields from the annotations."""
        cls._fields = tuple(cls.__annotations__)

    def __init__(self, *values, **named):
        """Take values by position or by name, all of them."""
        named = dict(zip(self._fields, values, strict=False)) | named
        if set(named) != set(self._fields) or len(values) > len(self._fields):
            raise TypeError(f"{type(self).__name__} takes {', '.join(self._fields)}")
        self.__dict__.update(named)
        if not DISABLED:
            words, members = [], []
            for field in self._fields:
                members.append(_add_words(words, named[field]))
            self._block = np.array(words, np.int64)
            self._address = self._block.ctypes.data
            self._type = _context_type(type(self), tuple(members))

    @property
    def kind(self):
        """Numba's type of the context; without JIT, its class."""
        return type(self) if DISABLED else self._type

    def __iter__(self):
        """The values of the fields, in order."""
        return (getattr(self, f) for f in self._fields)

    def _replace(self, **changes):
        """A copy with some fields changed."""
        return type(self)(**({f: getattr(self, f) for f in self._fields} | changes))


# Record arrays answer for their attributes in Python, arrays in C: this is a third of the time
# in which a machine is built.
_dtype, _shape = np.ndarray.dtype.__get__, np.ndarray.shape.__get__
_flags, _ctypes = np.ndarray.flags.__get__, np.ndarray.ctypes.__get__


def _add_words(words: list[int], value):
    """Append what the block of a context holds of a field; what tells the member's type."""
    if isinstance(value, np.ndarray):
        if not _flags(value).c_contiguous:
            raise TypeError("arrays of a context must be C-contiguous")
        shape = _shape(value)
        words.append(_ctypes(value).data)
        words.extend(shape)
        return _dtype(value), len(shape)
    if isinstance(value, Context):
        words.append(value._address)
        return value._type
    words.append(value.address)  # a policy
    return value._sig


def _member(what):
    """The Numba type of a field's value, from what :func:`_add_words` says of it."""
    if isinstance(what, tuple):
        return record_array(*what)
    if isinstance(what, ContextType):
        return what
    return numba.types.FunctionType(what)


class ContextType(numba.types.Type):
    """Numba's view of a :class:`Context`: the members' types and where they lie in the block."""

    def __init__(self, name, members):
        self.members = dict(members)
        self.places, place = {}, 0
        for field, member in members:
            self.places[field] = place
            place += 1 + getattr(member, "ndim", 0)
        digest = hashlib.sha256(repr([(f, str(t)) for f, t in members]).encode()).hexdigest()
        super().__init__(name=f"{name}[{digest[:16]}]")


@functools.cache
def _context_type(cls, members) -> ContextType:
    return ContextType(cls.__qualname__, tuple(zip(cls._fields, map(_member, members))))


@extending.typeof_impl.register(Context)
def _typeof_context(value, _):
    return value._type


@extending.register_model(ContextType)
class _ContextModel(extending.models.OpaqueModel):
    pass


@extending.unbox(ContextType)
def _unbox_context(kind, value, c):
    number = c.pyapi.object_getattr_string(value, "_address")
    address = c.pyapi.long_as_voidptr(number)
    c.pyapi.decref(number)
    return extending.NativeValue(address, is_error=c.pyapi.c_api_error())


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
    if isinstance(member, ContextType):
        return builder.inttoptr(
            _load_words(builder, value, place, 1)[0], context.get_value_type(member)
        )
    if isinstance(member, numba.types.FunctionType):
        function = cgutils.create_struct_proxy(member)(context, builder)
        pointer = context.get_value_type(numba.types.voidptr)
        function.c_addr = builder.inttoptr(_load_words(builder, value, place, 1)[0], pointer)
        function.py_addr = function.jit_addr = ir.Constant(pointer, None)
        return function._getvalue()
    data, *shape = _load_words(builder, value, place, 1 + member.ndim)
    return _make_array(context, builder, member, data, shape)


def _make_array(context, builder, member, data, shape):
    """The array structure of Numba for C-contiguous data."""
    array = context.make_array(member)(context, builder)
    size = context.get_abi_sizeof(context.get_data_type(member.dtype))
    stride = ir.Constant(ir.IntType(64), size)
    strides = []
    for length in reversed(shape):
        strides.insert(0, stride)
        stride = builder.mul(stride, length, flags=["nsw"])
    pointer = context.get_data_type(member.dtype).as_pointer()
    data = builder.inttoptr(data, pointer)
    arrayobj.populate_array(array, data, shape, strides, size, None)
    return array._getvalue()

"""What LLVM is told of the model's memory that Numba keeps to itself.

* No index counts from the end: Numba compares every index with zero, and may add the length.
* Which accesses cannot meet. A field of a record and another one, or an element of a plain array,
  are never at the same place, so that what was read of one need not be read again after a write of
  the other. Code that a function is compiled with must therefore not see the same memory as records
  and as an array of numbers; what it calls through an address may.

Numba's own functions are replaced while code of the package is compiled, and no longer: what users
compile keeps Python's meaning.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from llvmlite import ir
from numba.core import cgutils, types
from numba.np import arrayobj

_TAG = "lockstep_access"  # of a pointer: what it points to, in words
_ROOT = "memory of the model"
_WORD = ir.IntType(64)
_BITS = {ir.FloatType(): 32, ir.DoubleType(): 64}
_SCALARS = (ir.IntType, ir.FloatType, ir.DoubleType)

_record_member = cgutils.get_record_member
_load_item, _store_item = arrayobj.load_item, arrayobj.store_item
_load, _store = ir.IRBuilder.load, ir.IRBuilder.store


@contextmanager
def telling() -> Iterator[None]:
    """Compile like this inside; the caller holds Numba's lock."""
    replaced = [
        (arrayobj, "fix_integer_index", _index),
        (cgutils, "get_record_member", _tagged_member),
        (arrayobj, "load_item", _load_tagged_item),
        (arrayobj, "store_item", _store_tagged_item),
        (ir.IRBuilder, "load", _load_told),
        (ir.IRBuilder, "store", _store_told),
    ]
    before = [getattr(owner, name) for owner, name, _ in replaced]
    try:
        for owner, name, new in replaced:
            setattr(owner, name, new)
        yield
    finally:
        for (owner, name, _), old in zip(replaced, before):
            setattr(owner, name, old)


def _index(context, builder, kind, index, size):
    """An index as it is."""
    if isinstance(index, ir.Constant) and kind.signed and index.constant < 0:
        raise TypeError(
            f"an index of {index.constant} in a compiled function: count from the start"
        )
    return context.cast(builder, index, kind, types.intp if kind.signed else types.uintp)


def _tagged_member(builder, record, offset, kind):
    pointer = _record_member(builder, record, offset, kind)
    if isinstance(kind, _SCALARS):
        setattr(pointer, _TAG, f"field at {offset} of {record.type.pointee.count}")
    return pointer


def _load_tagged_item(context, builder, array, pointer):
    _tag_item(pointer)
    return _load_item(context, builder, array, pointer)


def _store_tagged_item(context, builder, array, value, pointer):
    _tag_item(pointer)
    return _store_item(context, builder, array, value, pointer)


def _tag_item(pointer) -> None:
    kind = pointer.type.pointee
    if isinstance(kind, _SCALARS):
        setattr(pointer, _TAG, f"element of {_BITS.get(kind) or kind.width} bits")


def _load_told(builder, pointer, *arguments, **options):
    return _tell(builder, _load(builder, pointer, *arguments, **options), pointer)


def _store_told(builder, value, pointer, *arguments, **options):
    return _tell(builder, _store(builder, value, pointer, *arguments, **options), pointer)


def _tell(builder, access, pointer):
    tag = getattr(pointer, _TAG, None)
    if tag is not None:
        module, start = builder.module, ir.Constant(_WORD, 0)
        root = module.add_metadata([_ROOT])
        kind = module.add_metadata([tag, root, start])
        access.set_metadata("tbaa", module.add_metadata([kind, kind, start]))
    return access

"""The only file that imports Numba: how the model is compiled, and where the result is cached.

Private facts of Numba are used here and nowhere else, and ``tests/test_jit.py`` pins them:
``_nrt=False`` (no reference counts: 9 to 54 times faster calls, and any allocation inside the
model becomes a compile error), and cache locators (Numba's own disk cache looks only at the file
of the function itself, so an edit of a callee elsewhere would silently run the old code; ours is
keyed by a hash over the file and everything it imports).
"""

import ctypes
import functools
import hashlib
import os
import re
import shutil
import sys
import threading
import time
import warnings
from pathlib import Path

import numba
import numpy as np
from llvmlite import ir
from numba import extending
from numba.core import caching, cgutils
from numba.core.errors import NumbaExperimentalFeatureWarning
from numba.core.typing.templates import AttributeTemplate
from numba.np import arrayobj
from platformdirs import user_cache_dir

# Policies are called through their addresses; Numba announces that this is experimental.
warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)

PACKAGE = Path(__file__).parent
OPTIONS = {"error_model": "numpy", "nogil": True, "_nrt": False}
DISABLED = bool(numba.config.DISABLE_JIT)
_KEEP_DAYS = 14


_IMPORT = re.compile(r"^from (lockstep[\w.]*) import (\([^)]*\)|.*)$", re.MULTILINE)


@functools.cache
def _imports(path: Path) -> tuple[Path, ...]:
    """The files of the package that a file imports from, itself not included."""
    files = []
    for module, names in _IMPORT.findall(path.read_text()):
        inside = PACKAGE.joinpath(*module.split(".")[1:])
        files += [inside.with_suffix(".py"), inside / "__init__.py"]
        files += [inside / f"{name}.py" for name in re.findall(r"\w+", names)]
    return tuple(f for f in files if f.exists())


@functools.cache
def source_key(path: Path) -> str:
    """Hash of a file, of all files it imports from, and of what else changes machine code.

    Machine code depends on nothing else: callees, record types and constants are imported.
    """
    closure, todo = set(), [path, PACKAGE / "_jit.py"]
    while todo:
        file = todo.pop()
        if file not in closure:
            closure.add(file)
            todo += _imports(file)
    digest = hashlib.sha256()
    for file in sorted(closure):
        digest.update(str(file.relative_to(PACKAGE)).encode() + b"\0" + file.read_bytes() + b"\0")
    digest.update(repr((sorted(OPTIONS.items()), numba.__version__)).encode())
    digest.update(repr((numba.config.BOUNDSCHECK, numba.config.OPT)).encode())
    return digest.hexdigest()[:20]


@functools.cache
def cache_root() -> Path:
    """Where machine code is kept between runs; what no run used for two weeks is removed."""
    root = Path(os.environ.get("LOCKSTEP_CACHE_DIR") or user_cache_dir("lockstep", False)) / "jit"
    root.mkdir(parents=True, exist_ok=True)
    for folder in root.iterdir():
        if folder.is_dir() and folder.stat().st_mtime < time.time() - _KEEP_DAYS * 86400:
            shutil.rmtree(folder, ignore_errors=True)
    return root


def _folder(file: Path) -> Path:
    """Where the machine code of a file of the package lies."""
    path = PACKAGE / file.resolve().relative_to(PACKAGE.resolve())
    name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    return cache_root() / f"{name}-{source_key(path)}"


class _PackageCacheLocator(caching._CacheLocator):
    """Places the machine code of this package's functions under :func:`cache_directory`."""

    def __init__(self, py_func, py_file):
        self._line = py_func.__code__.co_firstlineno
        self._path = _folder(Path(py_file))
        self._key = self._path.name.rsplit("-", 1)[1]

    def get_cache_path(self):
        return str(self._path)

    def get_source_stamp(self):
        return self._key

    def get_disambiguator(self):
        return str(self._line)

    @classmethod
    def from_function(cls, py_func, py_file):
        path = Path(py_file)
        if not path.exists() or not path.resolve().is_relative_to(PACKAGE.resolve()):
            return None
        try:
            locator = cls(py_func, py_file)
            locator.ensure_cache_path()
            os.utime(locator.get_cache_path())
        except OSError:  # a read-only home: Numba's own locators decide
            return None
        return locator


caching.CacheImpl._locator_classes.insert(0, _PackageCacheLocator)


def jit(function):
    """Compile a function of the model: no reference counts, no GIL, cached on disk."""
    return numba.njit(cache=True, **OPTIONS)(function)


def inline(function):
    """As :func:`jit`, for functions that only other jitted functions call.

    They have no cache of their own, and LLVM inlines what is small. Forcing it everywhere made
    the whole model compile in 65 seconds instead of 45.
    """
    return numba.njit(**OPTIONS)(function)


def force_inline(function):
    """As :func:`inline`, but always: where a call would cost more than what it does.

    For the few functions that run for every instruction or record: on the way of an issue it
    makes compute-bound kernels almost twice as fast.
    """
    return numba.njit(forceinline=True, **OPTIONS)(function)


@functools.cache
def record_array(dtype, ndim: int = 1):
    """The Numba type of a C-contiguous array of ``dtype``, for signatures of policies."""
    return numba.types.Array(numba.from_dtype(dtype), ndim, "C")


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
            self._block = np.array([n for f in self._fields for n in _words(named[f])], np.int64)
            self._address = self._block.ctypes.data
            self._type = _context_type(type(self), tuple(_member(named[f]) for f in self._fields))

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


def _words(value) -> list[int]:
    """What the block of a context holds of a field."""
    if isinstance(value, Context):
        return [value._address]
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise TypeError("arrays of a context must be C-contiguous")
        return [value.ctypes.data, *value.shape]
    return [value.address]  # a policy


def _member(value):
    """The Numba type of a field's value."""
    if isinstance(value, Context):
        return value._type
    if isinstance(value, np.ndarray):
        return record_array(value.dtype, value.ndim)
    return numba.types.FunctionType(value._sig)


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
    return ContextType(cls.__qualname__, tuple(zip(cls._fields, members)))


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


def policy(function, result, *arguments):
    """Compile a user's plain function alone (about 0.3 s) for a call through its address.

    The calling loop is not compiled again. ``result`` and ``arguments`` are Numba types, from
    :func:`record_array` or "int64". Without JIT the function itself comes back.
    """
    if DISABLED:
        return function
    kinds = [getattr(numba.types, a) if isinstance(a, str) else a for a in (result, *arguments)]
    ours = Path(function.__code__.co_filename).is_relative_to(PACKAGE)
    return numba.cfunc(kinds[0](*kinds[1:]), cache=ours, **_POLICY_OPTIONS)(function)


_POLICY_OPTIONS = {"nopython": True, "error_model": "numpy", "_nrt": False}


def phase(function, kinds: tuple, integers: int):
    """A jitted function as a pointer, for a loop that calls it through its address.

    ``function(*contexts, *integers) -> int``; ``kinds`` are those of the contexts. The loop is
    not compiled again when the function changes. Machine code is cached as for :func:`jit`.
    """
    if DISABLED:
        return function
    arguments = [*kinds, *[numba.types.int64] * integers]
    compile_ = numba.cfunc(numba.types.int64(*arguments), cache=True, **_POLICY_OPTIONS)
    return compile_(function.py_func)


_one_at_a_time = threading.Lock()


def _add_in_python(array, index, value):
    with _one_at_a_time:
        before = array[index]
        array[index] += value
    return before


@extending.intrinsic
def _atomic_add(_, array, index, value):
    """``array[index] += value`` on a one-dimensional int64 array; returns the value before."""

    def generate(context, builder, signature, arguments):
        place, number = arguments[1:]
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.atomic_rmw("add", builder.gep(data, [place]), number, "seq_cst")

    return numba.types.int64(array, numba.types.int64, numba.types.int64), generate


@extending.intrinsic
def _give_way(_):
    """Offer the processor to another thread."""

    def generate(context, builder, signature, arguments):
        number = ir.IntType(32)
        name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
        kind = ir.FunctionType(number, [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])
        return context.get_dummy_value()

    return numba.types.none(), generate


@extending.intrinsic
def _call_native(_, address, state, mask):
    """Call machine code at an address: ``int64 f(void *state, int32 mask)``."""

    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.IntType(64), [ir.IntType(8).as_pointer(), ir.IntType(32)])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        record = builder.inttoptr(arguments[1], kind.args[0])
        return builder.call(function, [record, builder.trunc(arguments[2], kind.args[1])])

    number = numba.types.int64
    return number(number, number, number), generate


@extending.intrinsic
def _popcount(_, mask):
    """Set bits of an int64."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return numba.types.int64(numba.types.int64), generate


def _call_native_from_python(address, state, mask):
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_uint32)
    return kind(int(address))(int(state), int(mask))


atomic_add = _add_in_python if DISABLED else _atomic_add
popcount = (lambda mask: (int(mask) & (1 << 64) - 1).bit_count()) if DISABLED else _popcount
call_native = _call_native_from_python if DISABLED else _call_native
give_way = (lambda: time.sleep(0)) if DISABLED else _give_way


def is_compiled(function) -> bool:
    """Whether the machine code of a jitted function lies on disk for this version."""
    if DISABLED:
        return True
    name = f"{function.py_func.__name__}-*.nbi"
    try:
        folder = _folder(Path(function.py_func.__code__.co_filename))
    except OSError:  # nowhere to keep it
        return False
    return any(folder.glob(f"*{name}"))

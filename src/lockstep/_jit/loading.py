"""Object code in this process, without Numba."""

import functools
import itertools
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from lockstep._jit.placing import Placed, Unknown
from lockstep._jit.target import is_linux_x86

if TYPE_CHECKING:
    from llvmlite import binding

_alive: list[object] = []


def initialize() -> None:
    """Let LLVM know this host."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()


@functools.cache
def _loader() -> "binding.LLJIT":
    """One for the process, which gives each object one range of addresses for code and data.

    An engine of LLVM's older kind maps them one by one, wherever there is room: in a process that
    maps much, farther apart than the two GiB that machine code reaches.
    """
    from llvmlite import binding

    initialize()
    return binding.create_lljit_compiler(use_jit_link=True)


_numbers = itertools.count()


class Loaded:
    """Object code in this process; addresses are valid as long as the object lives."""

    def __init__(
        self, objects: bytes, functions: Iterable[str], numbers: Mapping[str, int] | None = None
    ):
        """``functions``: the symbols of those whose addresses are wanted.

        ``numbers``: what symbols that are not defined stand for.
        """
        self._addresses, self._owner = _place(objects, list(functions), numbers or {})

    def address(self, function: str) -> int:
        """Address of a function."""
        return self._addresses[function]


def _place(
    objects: bytes, functions: list[str], numbers: Mapping[str, int]
) -> tuple[dict[str, int], object]:
    """Addresses of functions, and what keeps them valid."""
    if is_linux_x86():
        with suppress(Unknown):
            placed = Placed(objects, numbers)
            return placed.addresses, placed
    return _place_by_llvm(objects, functions, numbers)


def _place_by_llvm(
    objects: bytes, functions: list[str], numbers: Mapping[str, int]
) -> tuple[dict[str, int], object]:
    from llvmlite import binding

    builder = binding.JITLibraryBuilder().add_object_img(objects).add_current_process()
    for function in functions:
        builder.export_symbol(function)
    for symbol, number in numbers.items():
        builder.import_symbol(symbol, number)
    library = builder.link(_loader(), f"objects{next(_numbers)}")
    return {function: library[function] for function in functions}, library


def load(objects: bytes, symbol: str) -> int:
    """Address of a function of an object file, which stays in the process."""
    loaded = Loaded(objects, [symbol])
    _alive.append(loaded)
    return loaded.address(symbol)
